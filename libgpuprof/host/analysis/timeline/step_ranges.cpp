// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/step_ranges.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::host {

step_ranges number_steps(range_tree const& tree, text_of_name const& text, std::string_view name) {
  auto steps = name.empty() ? find_steps(tree, text) : steps_named(tree, text, name);
  // A program that waits for the GPU after its steps spends little time inside of them.
  for (auto const* const usual : {"step", "iteration", "batch"})
    if (name.empty() && steps.instances.size() < least_steps)
      steps = steps_named(tree, text, usual);
  step_ranges found{
      .name = std::move(steps.name), .instances = std::move(steps.instances), .step_of_range = {}};
  if (found.instances.empty()) return found;
  found.step_of_range.assign(tree.size(), no_step);
  for (std::uint32_t step = 0; step < found.instances.size(); ++step)
    found.step_of_range[found.instances[step]] = step;
  for (std::uint32_t i = 0; i < tree.size(); ++i)  // enclosing ranges come first
    if (auto const parent = tree[i].around();
        parent != no_range && found.step_of_range[i] == no_step)
      found.step_of_range[i] = found.step_of_range[parent];
  return found;
}

thread_ranges::thread_ranges(range_tree const& tree, thread_index main_thread)
    : tree_(&tree), main_thread_(main_thread) {
  for (std::uint32_t i = 0; i < tree.size(); ++i)
    if (tree[i].style == range_style::push_pop) threads_[tree[i].thread].ranges.push_back(i);
}

std::uint32_t thread_ranges::innermost(thread_index thread, timestamp_ns moment) const noexcept {
  auto const own = innermost_of(thread, moment);
  return own != no_range || thread == main_thread_ ? own : innermost_of(main_thread_, moment);
}

std::uint32_t thread_ranges::innermost_of(thread_index thread, timestamp_ns moment) const noexcept {
  auto const found = threads_.find(thread);
  if (found == threads_.end()) return no_range;
  auto const& ranges = found->second.ranges;
  auto const last = found->second.last;
  auto const has_begun = [&](std::size_t i) { return (*tree_)[ranges[i]].begin <= moment; };
  constexpr int near = 8;
  auto at = std::min(last, ranges.size());
  for (int i = 0; i < near && at < ranges.size() && has_begun(at); ++i) ++at;
  for (int i = 0; i < near && at > 0 && !has_begun(at - 1); ++i) --at;
  if ((at < ranges.size() && has_begun(at)) || (at > 0 && !has_begun(at - 1)))
    at = static_cast<std::size_t>(
        std::partition_point(ranges.begin(), ranges.end(),
                             [&](std::uint32_t range) { return (*tree_)[range].begin <= moment; }) -
        ranges.begin());
  found->second.last = at;
  if (at == 0) return no_range;
  auto range = ranges[at - 1];
  while (range != no_range && (*tree_)[range].end <= moment) range = (*tree_)[range].parent;
  return range;
}

}  // namespace gpuprof::host
