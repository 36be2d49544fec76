// SPDX-License-Identifier: Apache-2.0
// Combines what is known of each kernel: its time, its rates, its counters.
#pragma once

#include "host/advice/facts.hpp"
#include "host/analysis/declared_launches.hpp"
#include "host/analysis/timeline/timeline_pass.hpp"
#include "host/reading/roofline_reading.hpp"

#include <vector>

namespace gpuprof::host::command {

/// Sorted by time, the longest first; launches of one signature are combined.
std::vector<advice::kernel_facts> read_kernels(trace_contents& trace, timeline_pass const& pass,
                                               roofline_reading const& counters,
                                               declared_launches const& declared);

}  // namespace gpuprof::host::command
