// SPDX-License-Identifier: Apache-2.0
// Says which columns of a table a reader is asked to decode.
#pragma once

#include "capture/layout.hpp"

#include <cstddef>
#include <cstdint>

namespace gpuprof::capture {

/// By default all. `only(&kernel_record::shape, &kernel_record::duration)` names a few; the other
/// members then keep their default.
template <class Row>
class column_set {
 public:
  static column_set none() noexcept {
    column_set set;
    set.bits_ = 0;
    return set;
  }

  /// A member may be several columns: &kernel_shape::grid is three.
  template <class Member>
  void insert(Member Row::*member) {
    Row const row{};
    auto const first = static_cast<std::size_t>(reinterpret_cast<std::byte const*>(&(row.*member)) -
                                                reinterpret_cast<std::byte const*>(&row));
    auto const& columns = layout_of<Row>().columns;
    for (std::size_t place = 0; place < columns.size(); ++place) {
      if (columns[place].offset >= first && columns[place].offset < first + sizeof(Member)) {
        bits_ |= std::uint64_t{1} << place;
      }
    }
  }

  void insert(column_set const& others) noexcept { bits_ |= others.bits_; }

  bool has(column_set const& others) const noexcept { return (others.bits_ & ~bits_) == 0; }

  std::uint64_t bits() const noexcept { return bits_; }

 private:
  std::uint64_t bits_ = ~std::uint64_t{0};
};

template <class Row, class... Members>
column_set<Row> only(Members Row::*... members) {
  auto set = column_set<Row>::none();
  (set.insert(members), ...);
  return set;
}

}  // namespace gpuprof::capture
