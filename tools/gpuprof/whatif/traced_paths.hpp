// SPDX-License-Identifier: Apache-2.0
// Finds where in a capture the critical paths of the median and the slowest step lie.
#pragma once

#include "host/export/traced_path.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/replay/step_paths.hpp"
#include "whatif/read_steps.hpp"

#include <vector>

namespace gpuprof::host::command {

/// `read` says where the steps of the graph lie; its own steps are not used.
std::vector<traced_path> traced_paths_of(replay::step_paths const& paths,
                                         replay::step_graph const& graph,
                                         steps_of_capture const& read, trace_contents const& trace);

/// Walks over the capture and replays its steps. Returns none if it has no steps, or if they cannot
/// be replayed.
std::vector<traced_path> read_traced_paths(trace_contents& trace);

}  // namespace gpuprof::host::command
