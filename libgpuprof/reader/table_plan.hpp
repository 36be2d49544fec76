// SPDX-License-Identifier: Apache-2.0
// Which columns a stream has: those of a table of captures, or of one that is made for the stream.
#pragma once

#include "base/result.hpp"
#include "reader/arrow_batch.hpp"
#include "trace/exported_columns.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {

struct table_plan {
  /// `source` is null where the values are not in the file: columns of "tables" and "missing", and
  /// `rank`.
  std::vector<exported_column> columns;
  std::vector<arrow_field> fields;                // as many
  capture::table_layout const* layout = nullptr;  // null: a table that is made
  std::string table;
};

inline constexpr std::string_view list_of_tables = "tables";
inline constexpr std::string_view missing_lines = "missing";
inline constexpr std::string_view rank_column = "rank";

/// `wanted`: these alone, in this order; none: all, and the rank where `has_rank`. An error names
/// what is unknown and what there is.
result<table_plan> plan_of(std::string table, std::span<std::string_view const> wanted,
                           bool has_rank);

}  // namespace gpuprof
