// SPDX-License-Identifier: Apache-2.0
// Replays recorded steps with the repairs of findings, so that gains need no formulas.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"
#include "host/replay/step_graph.hpp"

#include <vector>

namespace gpuprof::host::advice {

/// Steps that stand for all steps of a run.
struct replayable_steps {
  replay::step_graph const* graph = nullptr;
  double all_steps = 0;    // of the run
  bool is_sliced = false;  // there are none: stretches of the run, of equal length, stand for them
};

/// True if the kernels of the finding's repairs occur in the steps.
bool can_replay(finding const& one, replayable_steps const& steps);

/// Sets the gain of each finding that states its repair in terms of these steps.
///
/// The findings are replayed one after the other, those that save most first and those that yield
/// to another one last, each on what the earlier ones leave. So gains are never counted twice, and
/// their sum is the gain of all. The cost of this profiler in launches is removed before the first.
/// The low gain assumes that CPU work before launches and calls that go stays, and the least values
/// of repairs; the high gain the opposite.
///
/// Findings whose names do not occur in the steps keep their gain. Returns what the steps would
/// take without this profiler, as a share of what they take in the recording.
double replay_gains(std::vector<finding>& findings, run_facts const& facts,
                    replayable_steps const& steps);

}  // namespace gpuprof::host::advice
