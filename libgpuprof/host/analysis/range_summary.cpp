// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_summary.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

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
  // Enclosing ranges come first in the tree, so a backward loop passes work up level by level.
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

range_kernels::range_kernels(range_tree const& tree, open_ranges const& open,
                             kernel_labels const& labels)
    : tree_(tree), open_(open), labels_(labels) {
  std::map<std::pair<std::uint32_t, path_key>, std::uint32_t> known;
  path_of_range_.reserve(tree.size());
  for (auto const& range : tree.ranges()) {
    auto const parent = range.parent == no_range ? no_range : path_of_range_[range.parent];
    path_key const key{key_of(range), range.thread};
    auto const next = static_cast<std::uint32_t>(paths_.size());
    auto const [at, is_new] = known.try_emplace({parent, key}, next);
    if (is_new) paths_.push_back({parent, key});
    path_of_range_.push_back(at->second);
  }
}

void range_kernels::add(kernel_record const& kernel, bool has_own_time) {
  noted_.clear();
  if (auto const innermost = tree_.index_of(kernel.range); innermost != no_range)
    note(innermost, kernel);
  if (kernel.launched.value != 0)
    for (auto const range : open_.at(kernel.launched)) note(range, kernel);
  if (has_own_time) inferred_.add(kernel, noted_, labels_.label_of(kernel.shape));
}

void range_kernels::note(std::uint32_t range, kernel_record const& kernel) {
  auto const path = path_of_range_[range];
  auto const label = labels_.label_of(kernel.shape);
  auto const next = static_cast<std::uint32_t>(cells_.size());
  auto const [at, is_new] =
      cell_of_.try_emplace(static_cast<std::uint64_t>(path) << 32 | label, next);
  if (is_new) cells_.push_back({path, label, {}, {}});
  auto& cell = cells_[at->second];
  cell.durations.add(nanoseconds(kernel.duration));
  if (cell.instances.empty() || cell.instances.back() != range) cell.instances.push_back(range);
  noted_.push_back(at->second);
}

/// Returns the distinct ranges that lie `steps` levels above these, in order. The input is mostly
/// in order, with repeats side by side, because launches are.
void range_kernels::enclosing(std::vector<std::uint32_t> const& ranges, std::uint32_t steps,
                              std::vector<std::uint32_t>& out) const {
  out.clear();
  auto last = no_range;
  bool in_order = true;
  for (auto range : ranges) {
    for (std::uint32_t step = 0; step < steps && range != no_range; ++step)
      range = tree_[range].parent;
    if (range == no_range || range == last) continue;
    in_order = in_order && (last == no_range || range > last);
    out.push_back(last = range);
  }
  if (in_order) return;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

std::vector<range_kernel_row> range_kernels::rows(
    std::function<std::string(range_key)> const& name_of) {
  struct part {
    std::uint32_t cell;
    std::uint32_t steps;  // levels from the innermost range up to the range of this line
  };
  std::map<std::pair<path_key, std::uint32_t>, std::vector<part>> lines;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    std::uint32_t steps = 0;
    for (auto at = cells_[i].path; at != no_range; at = paths_[at].parent)
      lines[{paths_[at].key, cells_[i].label}].push_back({i, steps++});
  }

  std::vector<range_kernel_row> rows;
  for (auto const& [line, parts] : lines) {
    samples durations;
    std::vector<std::uint32_t> instances, more, all;
    std::vector<inferred_times::part> cells;
    auto last_cell = no_range;
    for (auto const& part : parts) {
      auto const& cell = cells_[part.cell];
      // A kernel counts once, even in nested ranges of the same name.
      if (part.cell != last_cell) {
        durations.add_all(cell.durations);
        cells.push_back({part.cell, 1});
      }
      last_cell = part.cell;
      enclosing(cell.instances, part.steps, more);
      all.clear();
      std::set_union(instances.begin(), instances.end(), more.begin(), more.end(),
                     std::back_inserter(all));
      instances.swap(all);
    }
    rows.push_back({line.first.range, line.first.thread, line.second, instances.size(),
                    durations.summarize()});
    if (inferred_.any()) rows.back().inferred = inferred_.of(cells);
  }

  std::map<range_key, std::string> names;
  for (auto const& row : rows)
    if (!names.contains(row.range)) names.emplace(row.range, name_of(row.range));
  std::stable_sort(rows.begin(), rows.end(),
                   [&](range_kernel_row const& a, range_kernel_row const& b) {
                     return std::tie(names.at(a.range), a.thread, b.time.total) <
                            std::tie(names.at(b.range), b.thread, a.time.total);
                   });
  return rows;
}

}  // namespace gpuprof::host
