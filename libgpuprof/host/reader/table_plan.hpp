// SPDX-License-Identifier: Apache-2.0
// Plans the columns of a stream: of a table in captures, or of a table made for the stream.
#pragma once

#include <gpuprof/tables.h>

#include "base/result.hpp"
#include "host/reading/exported_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

// Columns in memory, and the structs of the Arrow C data interface that pass them on.

/// The distinct texts of a column: Arrow's dictionary.
class arrow_texts {
 public:
  /// Returns its index. @throws std::length_error if all texts together reach 2 GiB
  std::int32_t place_of(std::string_view text);
  std::vector<std::int32_t> const& offsets() const noexcept { return offsets_; }
  std::string const& bytes() const noexcept { return bytes_; }

 private:
  std::unordered_map<std::string, std::int32_t> places_;
  std::vector<std::int32_t> offsets_{0};
  std::string bytes_;
};

struct arrow_field {
  std::string name;
  std::string unit;     // empty: none
  std::string meaning;  // empty: not given
  char const* format = "";
  bool is_text = false;  // `format` is the format of the indices
};

struct arrow_column {
  void const* values = nullptr;
  std::shared_ptr<arrow_texts const> texts;
};

struct arrow_batch {
  std::size_t rows = 0;
  std::shared_ptr<void const> memory;  // owns all values
  std::vector<arrow_column> columns;
};

/// `out` owns what it points to; its release function frees that.
void hand_out(std::vector<arrow_field> const& fields, ArrowSchema& out);
void hand_out(arrow_batch const& batch, ArrowArray& out);

struct table_plan {
  /// `source` is null if the values are not in the table: columns of "tables" and "missing", the
  /// end of ranges, and the rank.
  std::vector<exported_column> columns;
  std::vector<arrow_field> fields;                // one per column
  capture::table_layout const* layout = nullptr;  // null: a table made for the stream
  std::string table;
};

inline constexpr std::string_view list_of_tables = "tables";
inline constexpr std::string_view missing_lines = "missing";
inline constexpr std::string_view whole_ranges = "range";  // range_begin with the end of each range
inline constexpr std::string_view rank_column = "rank";
inline constexpr std::string_view duration_column = "duration";      // only for whole ranges
inline constexpr std::string_view still_open_column = "still_open";  // only for whole ranges

/// `wanted` lists the columns in order. If it is empty, returns all columns, plus the rank if
/// `has_rank`. An error says what is unknown and what exists.
result<table_plan> plan_of(std::string table, std::span<std::string_view const> wanted,
                           bool has_rank);

}  // namespace gpuprof::host
