// SPDX-License-Identifier: Apache-2.0
// Formats traces: cuda_gpu_trace has one line per operation, nvtx_pushpop_trace one per range.
#pragma once

#include "host/analysis/gpu_trace.hpp"
#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/range_summary.hpp"
#include "host/analysis/range_tree.hpp"
#include "text/table.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>

namespace gpuprof::host::report {

/// Context for the lines of the trace. Trace, shapes and labels must outlive the table.
struct trace_context {
  std::span<kernel_shape const> shapes;
  kernel_labels const* labels = nullptr;
  std::map<std::uint32_t, std::string> device_names;  // by device_id; "NVIDIA H200"
  timestamp_ns origin;                                // starts are counted from here
};

text::table trace_table(gpu_trace const& trace, trace_context context);

/// Context for the lines of nvtx_pushpop_trace. Tree and text must outlive the table.
struct range_trace_context {
  text_of_name text;
  std::uint32_t process = 0;
  std::function<std::uint32_t(thread_index)> os_thread;
  timestamp_ns origin;  // starts are counted from here
};

/// Ranges are in order of their beginning. `keeps` is empty to show all.
text::table range_trace_table(range_tree const& tree, range_filter keeps,
                              range_trace_context context);

}  // namespace gpuprof::host::report
