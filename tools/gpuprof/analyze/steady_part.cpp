// SPDX-License-Identifier: Apache-2.0
#include "analyze/steady_part.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host::command {
namespace {

constexpr double longer_in_warm_up = 1.5;  // than the median step
constexpr std::size_t min_steps = 3;

}  // namespace

std::vector<double> periods_of_thread(range_tree const& tree,
                                      std::span<std::uint32_t const> steps) {
  std::vector<double> periods;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto const begin = tree[steps[i]].begin;
    auto const end = i + 1 < steps.size() ? tree[steps[i + 1]].begin : tree[steps[i]].end;
    periods.push_back(end > begin ? static_cast<double>((end - begin).value) : 0);
  }
  return periods;
}

std::size_t steps_of_warm_up(std::span<double const> periods_ns) {
  if (periods_ns.empty()) return 0;
  std::vector<double> sorted(periods_ns.begin(), periods_ns.end());
  std::sort(sorted.begin(), sorted.end());
  auto const limit = longer_in_warm_up * sorted[sorted.size() / 2];
  std::size_t warm = 0;
  while (warm < periods_ns.size() / 2 && periods_ns[warm] > limit) ++warm;
  return warm;
}

std::optional<steady_part> steady_part_of(range_tree const& tree, step_ranges const& steps) {
  std::map<thread_index, std::vector<std::uint32_t>> of_thread;
  for (auto const step : steps.instances)
    if (!tree[step].still_open) of_thread[tree[step].thread].push_back(step);
  std::optional<steady_part> part;
  for (auto const& [_, all] : of_thread) {
    auto const warm_up = steps_of_warm_up(periods_of_thread(tree, all));
    if (all.size() - warm_up < min_steps) continue;
    time_stretch const steady{tree[all[warm_up]].begin, tree[all.back()].end};
    if (!part) part.emplace().time = steady;
    part->steps += all.size() - warm_up;
    part->warm_up += warm_up;
    part->time = {std::min(part->time.begin, steady.begin), std::max(part->time.end, steady.end)};
  }
  return part;
}

std::size_t steps_before(range_tree const& tree, step_ranges const& steps, timestamp_ns moment) {
  return static_cast<std::size_t>(
      std::count_if(steps.instances.begin(), steps.instances.end(),
                    [&](auto step) { return tree[step].begin < moment; }));
}

}  // namespace gpuprof::host::command
