// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_summary.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host {

std::vector<range_row> ranges_by_name(range_tree const& tree, range_filter const& keeps) {
  std::map<range_key, samples> by_key;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    if (keeps && !keeps(i)) continue;
    by_key[key_of(tree[i])].add(nanoseconds(tree[i].duration()));
  }
  std::vector<range_row> rows;
  for (auto& [key, series] : by_key) rows.push_back({key, series.summarize()});
  std::stable_sort(rows.begin(), rows.end(), [](range_row const& a, range_row const& b) {
    return a.time.total > b.time.total;
  });
  return rows;
}

range_projection::range_projection(range_tree const& tree, open_ranges const& open)
    : tree_(tree), open_(open), extents_(tree.size()) {}

void range_projection::widen(extent& of, extent const& by) noexcept {
  of.first = of.operations == 0 ? by.first : std::min(of.first, by.first);
  of.last = std::max(of.last, by.last);
  of.operations += by.operations;
}

void range_projection::add(range_id innermost, timestamp_ns launched, timestamp_ns start,
                           timestamp_ns end) {
  extent const work{start.value, end.value, 1};
  if (auto const range = tree_.index_of(innermost); range != no_range) widen(extents_[range], work);
  if (launched.value == 0) return;
  for (auto const range : open_.at(launched)) widen(extents_[range], work);
}

std::vector<projection_row> range_projection::rows(range_filter const& keeps) {
  std::vector<std::uint32_t> children(extents_.size(), 0);
  // Enclosing ranges come first in the tree, so going backwards hands work up level by level.
  for (auto i = static_cast<std::uint32_t>(extents_.size()); i-- > 0;) {
    auto const parent = tree_[i].parent;
    if (extents_[i].operations == 0 || parent == no_range) continue;
    widen(extents_[parent], extents_[i]);
    ++children[parent];
  }

  struct group {
    samples projected;
    std::uint64_t range_time = 0, operations = 0, levels = 0, children = 0;
  };
  std::map<range_key, group> groups;
  for (std::uint32_t i = 0; i < extents_.size(); ++i) {
    if (extents_[i].operations == 0 || (keeps && !keeps(i))) continue;
    auto& group = groups[key_of(tree_[i])];
    group.projected.add(extents_[i].last - extents_[i].first);
    group.range_time += nanoseconds(tree_[i].duration());
    group.operations += extents_[i].operations;
    group.levels += tree_[i].level;
    group.children += children[i];
  }

  std::vector<projection_row> rows;
  for (auto& [key, group] : groups) {
    auto const n = static_cast<double>(group.projected.count());
    rows.push_back({key, group.projected.summarize(), group.range_time, group.operations,
                    static_cast<double>(group.levels) / n,
                    static_cast<double>(group.children) / n});
  }
  std::stable_sort(rows.begin(), rows.end(), [](projection_row const& a, projection_row const& b) {
    return a.projected.total > b.projected.total;
  });
  return rows;
}

}  // namespace gpuprof::host
