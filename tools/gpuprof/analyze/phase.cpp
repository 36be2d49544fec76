// SPDX-License-Identifier: Apache-2.0
#include "analyze/phase.hpp"

#include "host/analysis/selection.hpp"

#include <algorithm>
#include <set>

namespace gpuprof::host::command {
namespace {

/// Returns nothing if the ranges do not follow each other on one thread.
std::vector<time_stretch> stretches_of(std::string const& name, trace_contents& trace) {
  auto const filter = parse_range_expression(name);
  if (!filter) return {};
  auto const& tree = trace.ranges();
  auto const ranges = ranges_of(*filter, tree, trace.text());
  if (!ranges) return {};
  std::vector<time_stretch> made;
  std::set<thread_index> threads;
  for (auto const range : *ranges) {
    threads.insert(tree[range].thread);
    made.push_back({tree[range].begin, tree[range].end});
  }
  if (threads.size() > 1) return {};
  std::sort(made.begin(), made.end(),
            [](auto const& one, auto const& other) { return one.begin < other.begin; });
  std::vector<time_stretch> apart;
  for (auto const& one : made)
    if (apart.empty() || one.begin >= apart.back().end)
      apart.push_back(one);
    else
      apart.back().end = std::max(apart.back().end, one.end);
  return apart;
}

}  // namespace

std::vector<time_stretch> phase_of(filter_options const& filters, trace_contents& trace) {
  if (!filters.kernels.empty() || filters.device || filters.stream) return {};
  auto phase =
      filters.nvtx.empty() ? std::vector<time_stretch>() : stretches_of(filters.nvtx, trace);
  if (!filters.nvtx.empty() && phase.empty()) return {};
  if (!filters.time.empty()) {
    auto const asked = parse_time_stretch(filters.time, trace.origin());
    if (!asked) return {};
    if (filters.nvtx.empty()) phase = {*asked};
    for (auto& one : phase)
      one = {std::max(one.begin, asked->begin), std::min(one.end, asked->end)};
  }
  std::erase_if(phase, [](auto const& one) { return one.end <= one.begin; });
  return phase;
}

step_ranges steps_within(step_ranges steps, range_tree const& tree,
                         std::span<time_stretch const> phase) {
  std::vector<std::uint32_t> number(steps.instances.size(), no_step);
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < number.size(); ++i) {
    auto const& step = tree[steps.instances[i]];
    auto const is_inside = std::any_of(phase.begin(), phase.end(), [&](auto const& one) {
      return step.begin >= one.begin && step.end <= one.end;
    });
    if (!is_inside) continue;
    if (kept.empty()) steps.first += i;
    number[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(steps.instances[i]);
  }
  steps.instances = std::move(kept);
  for (auto& step : steps.step_of_range)
    if (step != no_step) step = number[step];
  if (steps.instances.empty()) return {};
  steps.stretch_ends.clear();
  for (auto const& one : phase) steps.stretch_ends.push_back(one.end);
  return steps;
}

}  // namespace gpuprof::host::command
