// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_paths.hpp"

#include "host/analysis/samples.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace gpuprof::host {
namespace {

/// Selects the paths to keep: the longest ones, each with all of its enclosing paths.
std::vector<bool> longest_of(std::vector<range_path> const& paths, std::size_t count) {
  double cpu = 1, gpu = 1;
  for (auto const& path : paths) {
    cpu += static_cast<double>(path.own_cpu_ns);
    gpu += static_cast<double>(path.own_gpu_ns);
  }
  auto const weight = [&](std::uint32_t i) {
    return static_cast<double>(paths[i].cpu_ns) / cpu + static_cast<double>(paths[i].gpu_ns) / gpu;
  };
  std::vector<std::uint32_t> order(paths.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return weight(a) > weight(b); });
  std::vector<bool> kept(paths.size());
  std::size_t size = 0;
  for (auto const i : order) {
    std::size_t missing = 0;
    for (auto at = i; at != no_range && !kept[at]; at = paths[at].parent) ++missing;
    if (size + missing > count) continue;
    for (auto at = i; at != no_range && !kept[at]; at = paths[at].parent) kept[at] = true;
    size += missing;
  }
  return kept;
}

void join(range_path& to, range_path const& path, bool is_outermost) {
  ++to.joined;
  to.own_cpu_ns += path.own_cpu_ns;
  to.own_gpu_ns += path.own_gpu_ns;
  if (!is_outermost) return;
  to.instances += path.instances;
  to.cpu_ns += path.cpu_ns;
  to.gpu_ns += path.gpu_ns;
  to.operations += path.operations;
}

}  // namespace

range_paths::range_paths(range_tree const& tree, open_ranges const& open,
                         launch_ranges const& launched, range_grouping const& line_of)
    : open_(open), launched_(launched) {
  auto numbered = number_paths(tree, launched.scope(), line_of);
  path_of_range_ = std::move(numbered.of_range);
  for (auto const& path : numbered.all) paths_.push_back({.key = path.key, .parent = path.parent});
  for (std::uint32_t i = 0; i < path_of_range_.size(); ++i) {
    auto& path = paths_[path_of_range_[i]];
    auto const ns = nanoseconds(tree[i].duration());
    ++path.instances;
    path.cpu_ns += ns;
    path.own_cpu_ns += ns;
  }
  for (std::uint32_t i = 0; i < path_of_range_.size(); ++i) {
    // time on another thread is not subtracted from the waiting range
    if (tree[i].parent == no_range) continue;
    auto& own = paths_[path_of_range_[tree[i].parent]].own_cpu_ns;
    own -= std::min(own, nanoseconds(tree[i].duration()));
  }
}

void range_paths::note(std::uint32_t path, std::uint64_t ns) noexcept {
  paths_[path].own_gpu_ns += ns;
  ++paths_[path].operations;
}

void range_paths::add(std::uint32_t innermost, timestamp_ns launched, std::uint64_t ns) {
  if (innermost != no_range) note(path_of_range_[innermost], ns);
  if (launched.value == 0) return;
  auto const open = open_.at(launched);
  for (std::size_t i = 0; i < open.size(); ++i) {
    auto const path = path_of_range_[open[i]];
    bool const again = std::any_of(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](std::uint32_t r) { return path_of_range_[r] == path; });
    if (!again) note(path, ns);
  }
}

/// Returns paths with GPU time and operations of the paths inside them. Enclosing paths come first.
std::vector<range_path> range_paths::summed() const {
  auto paths = paths_;
  for (auto& path : paths) path.gpu_ns = path.own_gpu_ns;
  for (std::size_t i = paths.size(); i-- > 0;) {
    if (paths[i].parent == no_range) continue;
    paths[paths[i].parent].gpu_ns += paths[i].gpu_ns;
    paths[paths[i].parent].operations += paths[i].operations;
  }
  return paths;
}

bounded_paths range_paths::bounded(std::size_t limit) const {
  auto const all = summed();
  // Each kept path, and the top level, may get one extra path that joins the dropped ones below it.
  auto const kept = longest_of(
      all, all.size() <= limit ? all.size() : (limit - std::min<std::size_t>(limit, 1)) / 2);
  bounded_paths made;
  std::vector<std::uint32_t> place(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!kept[i]) continue;
    place[i] = static_cast<std::uint32_t>(made.paths.size());
    auto& path = made.paths.emplace_back(all[i]);
    if (path.parent != no_range) path.parent = place[path.parent];
  }
  std::map<std::pair<std::uint32_t, range_style>, std::uint32_t> joined_below;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (kept[i]) continue;
    ++made.joined;
    auto const parent = all[i].parent;
    auto const is_outermost = parent == no_range || kept[parent];
    if (is_outermost) {
      auto const around = parent == no_range ? no_range : place[parent];
      auto const next = static_cast<std::uint32_t>(made.paths.size());
      auto const [at, is_new] = joined_below.try_emplace({around, all[i].key.style}, next);
      if (is_new) made.paths.push_back({.key = all[i].key, .parent = around});
      place[i] = at->second;
    } else {
      place[i] = place[parent];
    }
    join(made.paths[place[i]], all[i], is_outermost);
  }
  for (auto& path : made.paths)
    if (path.joined == 1) {  // a single path keeps its name
      path.joined = 0;
      --made.joined;
    } else if (path.joined > 1) {
      path.key = {.style = path.key.style};
      // Joined start/end ranges overlap, and each counts all work launched while it was open.
      if (path.key.style == range_style::start_end)
        path.gpu_ns = path.own_gpu_ns = path.operations = 0;
    }
  for (auto const path : path_of_range_) made.of_range.push_back(place[path]);
  return made;
}

namespace {

struct numbered {
  std::string_view name;  // without the trailing number
  range_key key;

  auto group() const { return std::tie(name, key.domain, key.style); }
};

/// Returns each key once; keys that differ only in a number are next to each other.
std::vector<numbered> sorted_names(range_tree const& tree, text_of_name const& text) {
  std::vector<range_key> keys;
  for (auto const& range : tree.ranges()) keys.push_back(key_of(range));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<numbered> names;
  for (auto const& key : keys) names.push_back({without_number(text(key.name)), key});
  std::stable_sort(names.begin(), names.end(),
                   [](auto const& a, auto const& b) { return a.group() < b.group(); });
  return names;
}

}  // namespace

numbered_ranges::numbered_ranges(range_tree const& tree, text_of_name const& text,
                                 step_ranges const& steps) {
  auto const names = sorted_names(tree, text);
  for (auto begin = names.begin(); begin != names.end();) {
    auto const end = std::find_if(begin, names.end(),
                                  [&](auto const& one) { return one.group() != begin->group(); });
    if (std::cmp_greater(end - begin, max_numbered_names))
      for (auto one = begin; one != end; ++one)
        shared_[one->key] = {begin->key, std::string(one->name) + " #"};
    begin = end;
  }
  for (auto const step : steps.instances)
    shared_[key_of(tree[step])] = {key_of(tree[steps.instances.front()]), steps.name};
}

range_key numbered_ranges::line_of(range_key const& key) const noexcept {
  auto const at = shared_.find(key);
  return at == shared_.end() ? key : at->second.first;
}

std::string numbered_ranges::name_of_line(range_key const& key) const {
  auto const at = shared_.find(key);
  return at == shared_.end() ? std::string() : at->second.name;
}

}  // namespace gpuprof::host
