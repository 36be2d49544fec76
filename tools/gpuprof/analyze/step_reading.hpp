// SPDX-License-Identifier: Apache-2.0
// Computes the times of a program's steps from its ranges and the time ledger.
#pragma once

#include "host/advice/facts.hpp"
#include "host/analysis/timeline/timeline_pass.hpp"
#include "host/reading/trace_contents.hpp"

#include <vector>

namespace gpuprof::host::command {

/// Returns the upper median; 0 if there are no values.
double median_of(std::vector<double> values);

/// Returns the times in which the profiler held launches or read counters, earliest begin first.
std::vector<time_stretch> disturbed_times(trace_contents& trace);

/// Returns the time from each step to the next one of its thread in ns, without the times in which
/// the profiler held or read launches.
std::vector<double> periods_ahead(trace_contents& trace, step_ranges const& steps);

/// Returns the same without exactly the time in which GPUs were idle because of the profiler.
std::vector<double> exact_periods(range_tree const& tree, step_ranges const& steps,
                                  time_ledger const& ledger);

/// Without steps, everything counts for the window and there are no periods. `has_calls` says if
/// the waits of threads are known.
advice::step_facts read_steps(trace_contents& trace, step_ranges const& steps,
                              timeline_pass const& pass, double window_ns, bool has_calls);

}  // namespace gpuprof::host::command
