// Says which columns of a table a reader is asked to decode.
#pragma once

#include "capture/tables.hpp"

#include <cstddef>
#include <cstdint>

namespace gpuprof::capture {

/// By default all. `only(&kernel_record::shape, &kernel_record::duration)` names a few; the other
/// members then keep their default.
template <class Row>
class column_set {
 public:
  static_assert(column_count<Row> <= 64);

  static column_set none() noexcept {
    column_set set;
    set.bits_ = 0;
    return set;
  }

  /// A member may be several columns: &kernel_shape::grid is three.
  template <class Member>
  void insert(Member Row::*member) noexcept {
    Row const row{};
    auto const* const first = reinterpret_cast<std::byte const*>(&(row.*member));
    for_each_column<Row>([&](std::size_t place, auto access) {
      auto const* const address = reinterpret_cast<std::byte const*>(&access(row));
      if (address >= first && address < first + sizeof(Member)) bits_ |= std::uint64_t{1} << place;
    });
  }

  bool contains(std::size_t place) const noexcept { return (bits_ >> place & 1) != 0; }

 private:
  std::uint64_t bits_ = ~std::uint64_t{0};
};

template <class Row, class... Members>
column_set<Row> only(Members Row::*... members) noexcept {
  auto set = column_set<Row>::none();
  (set.insert(members), ...);
  return set;
}

}  // namespace gpuprof::capture
