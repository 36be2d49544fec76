// SPDX-License-Identifier: Apache-2.0
// Formats the summaries of `analyze` as report tables, with the columns of nsys stats.
#pragma once

#include "host/analysis/api_summary.hpp"
#include "host/analysis/collective_summary.hpp"
#include "host/analysis/kernel_summary.hpp"
#include "host/analysis/launch_summary.hpp"
#include "host/analysis/memory_summary.hpp"
#include "host/analysis/metric_summary.hpp"
#include "host/analysis/range_summary.hpp"
#include "text/table.hpp"

namespace gpuprof::host::report {

// The reports of hardware counters by kernel and by range.

text::table kernel_metric_table(std::vector<metric_row> rows);
text::table range_metric_table(std::vector<metric_row> rows, text_of_name const& text);

text::table kernel_table(std::vector<kernel_row> rows);
text::table kernel_geometry_table(std::vector<kernel_row> rows);
text::table memory_time_table(std::vector<memory_row> rows);
text::table memory_size_table(std::vector<memory_row> rows);
/// Unified memory: one line per address.
text::table migration_table(std::vector<migration_row> const& rows);
/// Has one line.
text::table migration_total_table(migration_totals const& totals);
text::table api_table(std::vector<api_row> rows);

/// A line for an API call, a kernel, a copy or a fill, in a table of all of them.
struct work_row {
  std::string_view category;  // "CUDA_API", "CUDA_KERNEL", "MEMORY_OPER"
  statistics time;
  std::string operation;
  std::optional<inferred_time> inferred = {};
};
std::vector<work_row> work_of(std::vector<kernel_row> kernels, std::vector<memory_row> memory,
                              std::vector<api_row> calls);
/// Sorted by total time, the longest first.
text::table work_table(char const* name, char const* title, std::vector<work_row> rows);

/// "PushPop" or "StartEnd".
std::string_view style_name(range_style style) noexcept;

text::table range_table(std::vector<range_row> const& rows, text_of_name const& text);
/// Shows the ranges of one style.
text::table range_style_table(std::vector<range_row> const& rows, range_style style,
                              text_of_name const& text);
/// Converts to thread ids of the operating system.
using os_thread_of = std::function<std::uint32_t(thread_index)>;
text::table range_kernel_table(std::vector<range_kernel_row> const& rows, text_of_name const& text,
                               kernel_labels const& labels, std::uint32_t process,
                               os_thread_of const& os_thread);
text::table projection_table(std::vector<projection_row> const& rows, text_of_name const& text);
text::table collective_rate_table(std::vector<collective_rate_row> rows);
text::table launch_table(std::vector<launch_row> const& rows, kernel_labels const& labels,
                         std::uint32_t process);

}  // namespace gpuprof::host::report
