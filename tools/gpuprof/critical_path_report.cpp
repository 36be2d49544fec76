// SPDX-License-Identifier: Apache-2.0
#include "critical_path_report.hpp"

#include "base/readable.hpp"
#include "host/replay/step_paths.hpp"
#include "host/report/critical_path_table.hpp"
#include "whatif/read_steps.hpp"
#include "whatif/replay_check.hpp"

#include <algorithm>

namespace gpuprof::host::command {
namespace {

constexpr std::size_t max_subjects = 20;  // kernels, calls and ranges on the path

finished_report no_path(std::string why) {
  return {report::critical_path_table({}), std::move(why), {}};
}

std::string chosen_note(replay::step_paths const& paths, steps_of_capture const& read) {
  auto const slowest = paths.slowest.steps;
  return "of " + readable_count(paths.steps) + " replayed of " + counted(read.all_steps, "steps") +
         " \"" + read.name + "\": the median step, and " +
         (slowest == 1 ? "the slowest (Slow)"
                       : "the mean of the " + readable_count(slowest) + " slowest (Slow)");
}

}  // namespace

finished_report critical_path_report(trace_contents& trace, stats_inputs const& inputs) {
  auto const& filters = inputs.filters;
  if (!filters.time.empty() || !filters.kernels.empty() || filters.device || filters.stream)
    return no_path("a path goes through all work of a step; only --filter-nvtx selects steps");
  auto read = read_steps(trace, {.step_name = inputs.step,
                                 .within = filters.nvtx,
                                 .phase = {},
                                 .launches = nullptr,
                                 .max_items = max_replayed_items});
  if (!read) return no_path(read.message());
  replay::step_graph const graph(std::move(read->steps));
  replay::step_edit const unchanged(graph);
  auto const replayed = replay::replay(unchanged);
  auto const step_ns = replayed.total_ns() / std::max<double>(1, graph.recorded().steps);
  if (auto const wrong = why_not_replayed(graph, step_ns); !wrong.empty()) return no_path(wrong);
  auto const paths = replay::step_paths_of(unchanged, replayed, max_subjects);
  if (paths.steps == 0)
    return no_path("GPU work from before the first step hides a part of each step \"" + read->name +
                   "\"");
  finished_report finished{report::critical_path_table(paths), {}, {chosen_note(paths, *read)}};
  if (auto const hidden = graph.recorded().steps - paths.steps; hidden > 0)
    finished.notes.push_back(counted(hidden, "steps") + " " + (hidden == 1 ? "is" : "are") +
                             " left out: GPU work from before the first one hides a part");
  finished.notes.insert(finished.notes.end(), read->remarks.begin(), read->remarks.end());
  return finished;
}

}  // namespace gpuprof::host::command
