// SPDX-License-Identifier: Apache-2.0
#include "whatif/replay_check.hpp"

#include <cmath>
#include <cstdio>

namespace gpuprof::host::command {
namespace {

constexpr double max_error_of_replay = 0.01;  // without an edit, of a step

}  // namespace

double recorded_step_ns(replay::step_graph const& graph) noexcept {
  return static_cast<double>(graph.recorded_ns()) / static_cast<double>(graph.recorded().steps);
}

std::string why_not_replayed(replay::step_graph const& graph, double replayed_ns) {
  auto const recorded_ns = recorded_step_ns(graph);
  if (recorded_ns <= 0) return "the steps have no length";
  auto const off = replayed_ns / recorded_ns - 1;
  if (std::abs(off) <= max_error_of_replay) return {};
  char text[160];
  std::snprintf(text, sizeof text,
                "not replayed: without a change, steps would take %+.1f %% of what was recorded, "
                "so what waits for what is not understood",
                100 * off);
  return text;
}

}  // namespace gpuprof::host::command
