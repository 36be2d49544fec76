// SPDX-License-Identifier: Apache-2.0
// Parses the options of `gpuprof whatif` that state a repair, and turns them into edits.
#pragma once

#include "base/result.hpp"
#include "host/replay/repair.hpp"
#include "text/overview.hpp"
#include "whatif/read_steps.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gpuprof::host::command {

struct repair_options {
  std::vector<std::string> drop, merge, no_call, scale, roof, cpu, graph, overlap;
  std::string no_cpu_longer;
  std::optional<double> launch_cost_ns;
  bool pinned = false, without_profiler = false;
  /// What tracing added to a launch of this run, if that is known: what --without-profiler takes
  /// off.
  double traced_launch_ns = text::least_ns_a_launch;
};

void add_repair_options(CLI::App& command, repair_options& options);

/// "--drop CatArray --pinned": as the user gave them; empty without any.
std::vector<std::string> repair_texts(repair_options const& options);

struct repair_failure {
  std::string message;
  bool wrong_options = false;
};
struct stated_repairs {
  std::vector<replay::repair> repairs;
  std::optional<repair_failure> failure;
};
/// Returns the share of its roof that each kernel reaches, by name. Called only for --roof.
using reached_roofs = std::function<std::map<std::string, double>()>;
/// Independent of the order of the options: first removals, then moves, then other times.
stated_repairs repairs_of(repair_options const& options, steps_of_capture const& steps,
                          replay::step_graph const& graph, reached_roofs const& roofs);

}  // namespace gpuprof::host::command
