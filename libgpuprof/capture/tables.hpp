// SPDX-License-Identifier: Apache-2.0
// The tables of a capture file: the common list for writer, reader and schema.
#pragma once

#include "capture/definition_tables.hpp"
#include "capture/figure_tables.hpp"
#include "capture/trace_tables.hpp"

#include <cstdint>
#include <string_view>
#include <tuple>

namespace gpuprof::capture {

/// The last row of a file that was closed properly.
struct end_row {
  std::uint64_t rows_lost = 0;  // rows that could not be written
  std::int32_t error = 0;       // errno of the failed write; 0: no failure
};

template <>
struct table<counter_record> {
  static constexpr std::uint16_t number = 10;
  static constexpr std::string_view name = "counter";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("name", at<&counter_record::name>);
    column("value", at<&counter_record::value>);
  }
};

template <>
struct table<end_row> {
  static constexpr std::uint16_t number = 22;
  static constexpr std::string_view name = "end";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("rows_lost", at<&end_row::rows_lost>);
    column("error", at<&end_row::error>);
  }
};

/// All tables. Definitions come before the tables that use them, and names before all. The index is
/// the table's number.
using row_types =
    std::tuple<schema_row, name_row, fact_record, device_record, context_record, thread_record,
               category_record, kernel_shape, window_record, clock_record, counter_record,
               kernel_record, graph_record, copy_record, memset_record, api_record, sync_record,
               memory_record, unified_memory_record, range_begin, range_end, mark_record, end_row,
               peak_record, metric_record, read_launch_record, reading_value_record, sample_record,
               sampling_window_record, kernel_code_record, hold_record, chip_state_record,
               pause_record, stack_record, thread_sample_record, source_line_record, binary_record>;
inline constexpr std::size_t table_count = std::tuple_size_v<row_types>;

}  // namespace gpuprof::capture
