// SPDX-License-Identifier: Apache-2.0
// Describes as data where the columns of each table are in its rows. Made from tables.hpp once, so
// that code that moves values does not exist once per table.
#pragma once

#include "capture/tables.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::capture {

enum class value_type : std::uint8_t { u8, u16, u32, u64, i32, i64, f64, boolean, text };

/// Returns the type's name in the schema.
std::string_view name_of(value_type type) noexcept;

struct column_layout {
  std::string_view name;
  value_type type{};
  std::size_t offset = 0;  // offset in the row
};

struct table_layout {
  std::uint16_t number = 0;
  std::string_view name;
  bool definition = false;
  bool has_text = false;
  std::size_t row_bytes = 0;
  std::vector<column_layout> columns;
};

/// Indexed by table number.
std::span<table_layout const, table_count> all_tables();

template <class Row>
table_layout const& layout_of() {
  return all_tables()[table<Row>::number];
}

/// Copies one column of all rows to `out`; for a text column, the lengths.
void gather(column_layout const& column, std::byte const* rows, std::size_t row_bytes,
            std::span<std::uint64_t> out) noexcept;

/// Writes values into one column of as many rows. Not for text columns.
void scatter(std::span<std::uint64_t const> values, column_layout const& column, std::byte* rows,
             std::size_t row_bytes) noexcept;

/// Returns the text of one row.
std::string_view& text_at(std::byte* row, column_layout const& column) noexcept;
std::string_view text_at(std::byte const* row, column_layout const& column) noexcept;

// The columns of a table that a reader decodes.

/// Contains all columns by default. `only(&kernel_record::shape, &kernel_record::duration)` selects
/// some; other members keep their default value.
template <class Row>
class column_set {
 public:
  static column_set none() noexcept {
    column_set set;
    set.bits_ = 0;
    return set;
  }

  /// A member may consist of several columns: &kernel_shape::grid is three.
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
