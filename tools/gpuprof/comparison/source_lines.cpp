// SPDX-License-Identifier: Apache-2.0
#include "comparison/source_lines.hpp"

#include <iterator>
#include <set>

namespace gpuprof::host::command {

source_lines::source_lines(trace_contents& trace, line_options const& by, std::string const& step)
    : forward_(credits_forward(by.grouping) ? std::make_unique<forward_stacks>(trace) : nullptr),
      steps_(number_steps(trace.ranges(), trace.text(), step)) {
  auto const groups = group_by_source(read_source_times(trace, {}, by.grouping), trace, by);
  name_groups(groups, by.grouping);
  for (std::uint32_t i = 0; i < groups.size(); ++i)
    for (auto const stack : groups[i].stacks) line_of_stack_[stack] = i;
  lines_.resize(names_.size());
}

std::optional<std::uint32_t> source_lines::add(stack_id stack, range_id launched_in,
                                               thread_index thread, std::uint64_t what,
                                               std::uint32_t range, double ns) {
  if (forward_ != nullptr) stack = forward_->of(launched_in, stack);
  auto& last = last_[{thread, what}];
  if (raw(stack) != 0) last = stack;
  auto const found = line_of_stack_.find(last);
  if (found == line_of_stack_.end()) return std::nullopt;
  auto& line = lines_[found->second];
  if (steps_.empty()) {
    line.durations.add(ns);
    return found->second;
  }
  auto const step = range == no_range ? no_step : steps_.step_of_range[range];
  if (step == no_step) return std::nullopt;
  line.ns_of_step[step] += ns;
  return found->second;
}

std::map<std::string, compare::duration_series> source_lines::finish() {
  std::map<std::string, compare::duration_series> found;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    for (auto const& [_, ns] : lines_[i].ns_of_step) lines_[i].durations.add(ns);
    if (lines_[i].durations.count() == 0) continue;
    lines_[i].durations.finish();
    lines_[i].durations.owe(inferred_.of(static_cast<std::uint32_t>(i)));
    found.emplace(names_[i], std::move(lines_[i].durations));
  }
  return found;
}

void source_lines::name_groups(std::vector<source_group> const& groups, stack_grouping by) {
  std::map<std::pair<std::string, std::string>, std::set<std::uint32_t>> same;
  for (auto const& group : groups)
    if (!group.where.source.empty())
      same[{group.where.file, group.where.source}].insert(group.where.line);
  for (auto const& group : groups) {
    auto name = group.name;
    if (by == stack_grouping::module && !group.where.type.empty() && !name.starts_with('('))
      name += ": " + group.where.type;
    if (!group.where.source.empty()) {
      auto const& lines = same[{group.where.file, group.where.source}];
      auto const at = std::distance(lines.begin(), lines.find(group.where.line));
      name = name.substr(0, name.rfind(':')) + ": " + group.where.source +
             (at > 0 ? " (" + std::to_string(at + 1) + ")" : "");
    }
    names_.push_back(std::move(name));
  }
}

}  // namespace gpuprof::host::command
