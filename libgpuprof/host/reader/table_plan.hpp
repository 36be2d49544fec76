// SPDX-License-Identifier: Apache-2.0
// Which columns a stream has: those of a table of captures, or of one that is made for the stream.
#pragma once

#include "base/result.hpp"
#include "host/reader/arrow_batch.hpp"
#include "host/reading/exported_columns.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

struct table_plan {
  /// `source` is null where the values are not in the table: columns of "tables" and "missing", the
  /// end of ranges, and the rank.
  std::vector<exported_column> columns;
  std::vector<arrow_field> fields;                // as many
  capture::table_layout const* layout = nullptr;  // null: a table that is made
  std::string table;
};

inline constexpr std::string_view list_of_tables = "tables";
inline constexpr std::string_view missing_lines = "missing";
inline constexpr std::string_view whole_ranges = "range";  // range_begin with the end of each
inline constexpr std::string_view rank_column = "rank";
inline constexpr std::string_view duration_column = "duration";      // of a whole range
inline constexpr std::string_view still_open_column = "still_open";  // likewise

/// `wanted`: these alone, in this order; none: all, and the rank where `has_rank`. An error names
/// what is unknown and what there is.
result<table_plan> plan_of(std::string table, std::span<std::string_view const> wanted,
                           bool has_rank);

}  // namespace gpuprof::host
