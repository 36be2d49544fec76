// SPDX-License-Identifier: Apache-2.0
// What the steps of a program took, from its ranges and the time ledger.
#pragma once

#include "host/advice/facts.hpp"
#include "host/analysis/timeline/timeline_pass.hpp"
#include "host/reading/trace_contents.hpp"

#include <vector>

namespace gpuprof::host::command {

/// The upper one of two; 0: there are none.
double median_of(std::vector<double> values);

/// From each step to the next one of its thread, ns, without the times in which this profiler held
/// launches or read them; `step_facts::period_ns` leaves out just what GPUs idled for it.
std::vector<double> periods_ahead(trace_contents& trace, step_ranges const& steps);

/// Of a capture without steps all is of the window, and there are no periods. `has_calls`: it is
/// known how long threads waited.
advice::step_facts read_steps(trace_contents& trace, step_ranges const& steps,
                              timeline_pass const& pass, double window_ns, bool has_calls);

}  // namespace gpuprof::host::command
