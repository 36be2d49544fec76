// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/launch_ranges.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace gpuprof::host {
namespace {

/// Push/pop ranges in order of their start; the latest open one of a thread is its innermost.
class open_stack {
 public:
  explicit open_stack(range_tree const& tree) : tree_(tree) {}
  void open(std::uint32_t range) { open_.push(range); }
  /// Returns the latest started range that is open at this moment. `moment` must not decrease
  /// between calls.
  std::uint32_t innermost(std::uint64_t moment) {
    while (!open_.empty() && has_ended(tree_[open_.top()], moment)) open_.pop();
    return open_.empty() ? no_range : open_.top();
  }

 private:
  /// A launch at exactly the end of a range still counts.
  static bool has_ended(traced_range const& range, std::uint64_t moment) noexcept {
    return !range.still_open && range.end.value < moment;
  }
  range_tree const& tree_;
  std::priority_queue<std::uint32_t> open_;
};

}  // namespace

launch_ranges::launch_ranges(range_tree const& tree, range_scope scope, thread_index main_thread)
    : tree_(&tree), scope_(scope) {
  if (scope == range_scope::thread) return;
  std::vector<std::uint64_t> moments;
  for (auto const& range : tree.ranges()) {
    if (range.style != range_style::push_pop) continue;
    moments.push_back(range.begin.value);
    if (!range.still_open) moments.push_back(range.end.value + 1);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());

  open_stack of_main(tree), of_all(tree);
  std::uint32_t next = 0;
  for (auto const moment : moments) {
    for (; next < tree.size() && tree[next].begin.value <= moment; ++next) {
      if (tree[next].style != range_style::push_pop) continue;
      of_all.open(next);
      if (raw(main_thread) != 0 && tree[next].thread == main_thread) of_main.open(next);
    }
    auto range = of_main.innermost(moment);
    if (range == no_range) range = of_all.innermost(moment);
    if (!ranges_.empty() && ranges_.back() == range) continue;
    begins_.push_back(moment);
    ranges_.push_back(range);
  }
}

std::uint32_t launch_ranges::open_at(timestamp_ns moment) const noexcept {
  if (begins_.empty() || moment.value < begins_.front()) return no_range;
  auto const holds = [&](std::size_t i) {
    return begins_[i] <= moment.value && (i + 1 == begins_.size() || moment.value < begins_[i + 1]);
  };
  if (!holds(last_)) {  // launches mostly come in order
    auto const after = std::upper_bound(begins_.begin(), begins_.end(), moment.value);
    last_ = static_cast<std::size_t>(after - begins_.begin()) - 1;
  }
  return ranges_[last_];
}

std::string range_name(range_key const& key, text_of_name const& text) {
  auto const domain = text(key.domain);
  auto name = std::string(domain);
  if (!domain.empty()) name += ':';
  return name.append(text(key.name));
}

numbered_paths number_paths(range_tree const& tree, range_scope scope,
                            range_grouping const& line_of) {
  numbered_paths made;
  std::map<std::pair<std::uint32_t, range_key>, std::uint32_t> known;
  made.of_range.reserve(tree.size());
  for (auto const& range : tree.ranges()) {
    auto const outer = around(range, scope);
    auto const parent = outer == no_range ? no_range : made.of_range[outer];
    auto const key = line_of(range);
    auto const next = static_cast<std::uint32_t>(made.all.size());
    auto const [at, is_new] = known.try_emplace({parent, key}, next);
    if (is_new) made.all.push_back({parent, key});
    made.of_range.push_back(at->second);
  }
  return made;
}

}  // namespace gpuprof::host
