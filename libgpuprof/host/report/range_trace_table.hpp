// SPDX-License-Identifier: Apache-2.0
// Lays out push/pop ranges as the report nvtx_pushpop_trace, one line a range.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/range_summary.hpp"
#include "host/analysis/range_tree.hpp"
#include "text/table.hpp"

#include <cstdint>
#include <functional>

namespace gpuprof::report {

/// What the lines refer to; tree and text must outlive the table.
struct range_trace_context {
  text_of_name text;
  std::uint32_t process = 0;
  std::function<std::uint32_t(thread_index)> os_thread;
  timestamp_ns origin;  // starts are counted from here
};

/// In order of their beginning. `keeps`: empty for all.
table range_trace_table(range_tree const& tree, range_filter keeps, range_trace_context context);

}  // namespace gpuprof::report
