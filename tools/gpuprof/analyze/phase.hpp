// SPDX-License-Identifier: Apache-2.0
// A phase: a part of the time of a run that is analyzed as a run of its own.
#pragma once

#include "filter_options.hpp"
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/reading/trace_contents.hpp"

#include <span>
#include <vector>

namespace gpuprof::host::command {

/// Returns the stretches of time that the filters select, in order and apart from each other.
/// Empty: there are no filters, or they select work and not time: kernels, a GPU, a stream, or
/// ranges of several threads, beside which other work runs.
std::vector<time_stretch> phase_of(filter_options const& filters, trace_contents& trace);

/// Keeps the steps that lie whole inside of one of the stretches, which are in order.
step_ranges steps_within(step_ranges steps, range_tree const& tree,
                         std::span<time_stretch const> phase);

}  // namespace gpuprof::host::command
