// SPDX-License-Identifier: Apache-2.0
// Chooses what stands for the steps of a program without steps: stretches of its steady state.
#pragma once

#include "whatif/choose_steps.hpp"

#include <span>
#include <vector>

namespace gpuprof::host::command {

/// Cuts a part of the run into stretches of equal length: after the first tenth of the launches,
/// inside of one window of the capture and of the phase that was asked for, where the profiler held
/// nothing up, and with as many items as the question allows.
result<chosen_steps> slices_of(trace_contents& trace, steps_question const& question);

}  // namespace gpuprof::host::command
