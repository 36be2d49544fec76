// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/steps.hpp"

#include "model/own_ranges.hpp"
#include "model/torch_ranges.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace gpuprof::host {
namespace {

// share of the longest candidate that a range called a step must reach
constexpr double least_of_greatest = 0.5;
constexpr double least_covered = 0.25;  // of the time from the first to the last one

bool is_called_step(std::string_view name) {
  std::string lower(name);
  for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (auto const* word : {"step", "iter", "batch"})
    if (lower.find(word) != lower.npos) return true;
  return false;
}

/// Ranges of one domain whose names differ only in the number at the end.
constexpr std::string_view compiler_domain = "TSL";
struct group {
  std::string_view name;
  name_id domain{};
  std::size_t count = 0, outermost = 0;
  std::uint64_t total_ns = 0;
  timestamp_ns first, last;
  bool is_inside_framework = false;  // XLA compiles a program, or PyTorch calls an operator

  bool repeats() const noexcept {
    return !is_inside_framework && outermost >= least_steps && total_ns > 0 &&
           static_cast<double>(total_ns) >=
               least_covered * static_cast<double>((last - first).value);
  }
};

class grouping {
 public:
  grouping(range_tree const& tree, text_of_name const& text) : tree_(tree), text_(text) {
    of_range_.reserve(tree.size());
    for (auto const& range : tree.ranges()) of_range_.push_back(group_of(range));
    for (std::uint32_t i = 0; i < tree.size(); ++i) ++groups_[of_range_[i]].count;
    sum_up();
  }

  std::vector<group> const& groups() const noexcept { return groups_; }
  /// Returns the ranges of these groups, without those inside another of them.
  range_steps steps_of(std::vector<std::uint32_t> const& wanted) const;
  bool is_own(group const& of) const {
    return of.name == own_step && text_(of.domain) == own_domain;
  }

 private:
  std::uint32_t group_of(traced_range const& range);
  void sum_up();

  range_tree const& tree_;
  text_of_name const& text_;
  std::vector<group> groups_;
  std::vector<std::uint32_t> of_range_;
  std::map<std::pair<name_id, name_id>, std::uint32_t> by_id_;
  std::map<std::pair<std::string_view, name_id>, std::uint32_t> by_name_;
};

std::uint32_t grouping::group_of(traced_range const& range) {
  auto const [by_id, is_new_id] = by_id_.try_emplace({range.name, range.domain});
  if (!is_new_id) return by_id->second;
  auto const name = without_number(text_(range.name));
  auto const [by_name, is_new] = by_name_.try_emplace({name, range.domain});
  if (is_new) {
    by_name->second = static_cast<std::uint32_t>(groups_.size());
    auto const domain = text_(range.domain);
    groups_.push_back(
        {name, range.domain, 0, 0, 0, {}, {}, domain == compiler_domain || !is_structure(domain)});
  }
  return by_id->second = by_name->second;
}

void grouping::sum_up() {
  std::vector<bool> inside_repeated(tree_.size());
  for (std::uint32_t i = 0; i < tree_.size(); ++i) {
    auto const& range = tree_[i];
    if (range.parent != no_range)
      inside_repeated[i] =
          inside_repeated[range.parent] || groups_[of_range_[range.parent]].count >= least_steps;
    if (inside_repeated[i] || range.style != range_style::push_pop) continue;
    auto& of = groups_[of_range_[i]];
    if (of.outermost++ == 0) of.first = range.begin;
    of.last = std::max(of.last, range.end);
    of.total_ns += static_cast<std::uint64_t>(range.duration().value);
  }
}

range_steps grouping::steps_of(std::vector<std::uint32_t> const& wanted) const {
  range_steps steps;
  if (wanted.empty()) return steps;
  steps.name = groups_[wanted.front()].name;
  steps.domain = groups_[wanted.front()].domain;
  std::vector<bool> is_step(tree_.size());  // or inside a step
  for (std::uint32_t i = 0; i < tree_.size(); ++i) {
    auto const parent = tree_[i].parent;
    auto const is_inside = parent != no_range && is_step[parent];
    auto const is_named = std::find(wanted.begin(), wanted.end(), of_range_[i]) != wanted.end();
    is_step[i] = is_inside || is_named;
    if (!is_named || is_inside) continue;
    if (tree_[i].still_open && is_own(groups_[of_range_[i]])) continue;
    steps.instances.push_back(i);
  }
  return steps;
}

}  // namespace

std::string_view without_operator_numbers(std::string_view name) noexcept {
  for (std::string_view const word : {", op_id =", ", seq ="})
    if (auto const at = name.find(word); at != name.npos && at > 0) name = name.substr(0, at);
  return name;
}

std::string_view without_number(std::string_view name) noexcept {
  name = without_operator_numbers(name);
  auto const is_any = [](std::string_view of, char c) { return of.find(c) != of.npos; };
  auto left = name;
  while (!left.empty() && is_any("])", left.back())) left.remove_suffix(1);
  auto const digits = left.size();
  while (!left.empty() && is_any("0123456789", left.back())) left.remove_suffix(1);
  if (left.size() == digits) return name;
  while (!left.empty() && is_any(" #_-:=./[(", left.back())) left.remove_suffix(1);
  return left.empty() ? name : left;
}

range_steps steps_named(range_tree const& tree, text_of_name const& text, std::string_view name) {
  grouping const all(tree, text);
  auto const bare = without_number(name);
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < all.groups().size(); ++i) {
    auto const& of = all.groups()[i];
    auto const with_domain = std::string(text(of.domain)) + ":" + std::string(of.name);
    if (of.name == name || of.name == bare || with_domain == bare || with_domain == name)
      wanted.push_back(i);
  }
  return all.steps_of(wanted);
}

range_steps find_steps(range_tree const& tree, text_of_name const& text) {
  grouping const all(tree, text);
  for (std::uint32_t i = 0; i < all.groups().size(); ++i) {
    if (!all.is_own(all.groups()[i])) continue;
    if (auto own = all.steps_of({i}); own.instances.size() >= least_steps) return own;
  }
  std::uint64_t greatest = 0;
  for (auto const& of : all.groups())
    if (of.repeats() && !all.is_own(of)) greatest = std::max(greatest, of.total_ns);
  std::vector<std::uint32_t> best;
  for (auto const must_be_called : {true, false}) {
    for (std::uint32_t i = 0; i < all.groups().size(); ++i) {
      auto const& of = all.groups()[i];
      if (!of.repeats() || all.is_own(of)) continue;
      auto const covered = static_cast<double>(of.total_ns) / static_cast<double>(greatest);
      if (must_be_called && (!is_called_step(of.name) || covered < least_of_greatest)) continue;
      if (best.empty() || of.total_ns > all.groups()[best.front()].total_ns) best = {i};
    }
    if (!best.empty()) break;
  }
  return all.steps_of(best);
}

}  // namespace gpuprof::host
