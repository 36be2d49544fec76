// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/module_tree.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace gpuprof::host {

module_tree::module_tree(std::vector<stack_record> const& stacks,
                         std::function<std::string_view(name_id)> const& text)
    : of_stack_(stacks.size()) {
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> known;
  std::set<std::uint32_t> hold_others;
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    auto const caller = raw(stacks[i].caller);
    auto const outer = caller < i ? of_stack_[caller] : 0;
    of_stack_[i] = outer;
    if (raw(stacks[i].module) == 0) continue;
    auto const name = text(stacks[i].module);
    auto const [place, is_new] =
        known.try_emplace({outer, name}, static_cast<std::uint32_t>(modules_.size()));
    of_stack_[i] = place->second;
    if (!is_new) continue;
    auto const colon = name.rfind(": ");
    auto const type = colon == name.npos ? name : name.substr(colon + 2);
    auto const step = colon == name.npos ? std::string_view{} : name.substr(0, colon);
    modules_.push_back({step.empty() ? '(' + std::string(type) + ')' : std::string(step),
                        std::string(type), outer});
    if (outer != 0 && modules_[outer].outer == 0) hold_others.insert(outer);
  }
  for (std::size_t i = 1; i < modules_.size(); ++i) {
    auto const outer = modules_[i].outer;
    if (outer == 0 || (modules_[outer].outer == 0 && hold_others.size() == 1)) continue;
    modules_[i].path = modules_[outer].path + '.' + modules_[i].path;
  }
}

std::string folded_path(std::string_view path) {
  std::string folded;
  for (std::size_t begin = 0; begin <= path.size();) {
    auto const end = std::min(path.find('.', begin), path.size());
    auto const step = path.substr(begin, end - begin);
    auto const is_number = !step.empty() && step.find_first_not_of("0123456789") == step.npos;
    if (begin != 0) folded += '.';
    folded += is_number ? std::string_view("*") : step;
    begin = end + 1;
  }
  return folded;
}

std::vector<module_group> group_by_module(stack_times const& times, module_tree const& tree,
                                          bool folds) {
  auto const& modules = tree.modules();
  std::vector<module_group> groups(1);
  std::vector<std::size_t> group_of(modules.size());
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (std::size_t i = 1; i < modules.size(); ++i) {
    auto path = folds ? folded_path(modules[i].path) : modules[i].path;
    auto const [place, is_new] = known.try_emplace({path, modules[i].type}, groups.size());
    if (is_new) groups.push_back({std::move(path), modules[i].type, 0, {}, {}, {}});
    group_of[i] = place->second;
    ++groups[place->second].modules;
  }
  for (auto const& [stack, sum] : times.stacks()) {
    auto const innermost = tree.of(stack);
    groups[group_of[innermost]].own += sum;
    groups[group_of[innermost]].stacks.push_back(stack);
    std::set<std::size_t> seen;  // a module in one of the same group counts once
    for (auto at = innermost; at != 0; at = modules[at].outer)
      if (seen.insert(group_of[at]).second) groups[group_of[at]].total += sum;
  }
  for (auto const& [_, sum] : times.without_stack()) groups[0].own += sum;
  groups[0].total = groups[0].own;
  std::stable_sort(groups.begin() + 1, groups.end(), [](auto const& a, auto const& b) {
    return std::pair(a.own.gpu_ns, a.total.gpu_ns) > std::pair(b.own.gpu_ns, b.total.gpu_ns);
  });
  return groups;
}

}  // namespace gpuprof::host
