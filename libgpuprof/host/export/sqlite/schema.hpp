// SPDX-License-Identifier: Apache-2.0
// The tables of the SQLite export: those of nsys, with its columns, and ours.
#pragma once

#include <span>
#include <string_view>

namespace gpuprof::host {

struct sqlite_table {
  std::string_view name;
  std::string_view columns;  // that get values, in the order in which rows give them
  /// Columns that nsys has and a capture does not know. Added when the rows are in: they then take
  /// no room, and a row of them no time.
  std::string_view unfilled = {};
};

/// The version of nsys' schema that its tables follow, and of ours.
inline constexpr int nsys_schema[] = {3, 7, 2};
inline constexpr int own_schema = 1;

namespace tables {

// nsys' names, for its own records.
extern sqlite_table const string_ids, kernel, memcpy, memset, graph_trace, runtime, synchronization,
    memory_usage, cpu_page_faults, gpu_page_faults, nvtx_events;
// nsys' names, for what explains them.
extern sqlite_table const target_gpu, target_cuda_device, target_context, target_session_start,
    target_system, analysis_details, meta_export, meta_capture, processes, thread_names;
// Ours.
extern sqlite_table const facts, counters, losses, windows, clocks, metrics, readings,
    reading_values, samples, sampling_windows, peaks, kernel_code, declared_work, roofline,
    roofline_flops;

}  // namespace tables

std::span<sqlite_table const* const> all_sqlite_tables() noexcept;

/// Statements that make the indexes of --index.
std::span<std::string_view const> sqlite_indexes() noexcept;

}  // namespace gpuprof::host
