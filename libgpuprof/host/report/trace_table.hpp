// SPDX-License-Identifier: Apache-2.0
// Lays out the GPU trace as the report cuda_gpu_trace, one line an operation.
#pragma once

#include "host/analysis/gpu_trace.hpp"
#include "host/analysis/kernel_labels.hpp"
#include "text/table.hpp"

#include <map>
#include <span>

namespace gpuprof::report {

/// What the lines of the trace refer to. Trace, shapes and labels must outlive the table.
struct trace_context {
  std::span<kernel_shape const> shapes;
  kernel_labels const* labels = nullptr;
  std::map<std::uint32_t, std::string> device_names;  // by device_id; "NVIDIA H200"
  timestamp_ns origin;                                // starts are counted from here
};

table trace_table(gpu_trace const& trace, trace_context context);

}  // namespace gpuprof::report
