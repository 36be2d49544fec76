// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/numbered_ranges.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace gpuprof::host {
namespace {

struct numbered {
  std::string_view name;  // without its number
  range_key key;

  auto group() const { return std::tie(name, key.domain, key.style); }
};

/// Each key once, those that differ in a number alone beside each other.
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
