// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/kernel_summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuprof::host {
namespace {

/// Summarizes the durations of several shapes together. Does not copy if there is only one shape.
statistics summarize_together(kernel_durations& durations, std::vector<std::size_t> const& shapes) {
  if (shapes.size() == 1) return durations.of(shapes[0]).summarize();
  std::size_t count = 0;
  for (auto const shape : shapes) count += durations.of(shape).count();
  samples all;
  all.reserve(count);
  for (auto const shape : shapes) all.add_all(durations.of(shape));
  return all.summarize();
}

std::optional<inferred_time> inferred_of(inferred_times const& times,
                                         std::vector<std::size_t> const& shapes) {
  if (!times.any()) return std::nullopt;
  std::vector<inferred_times::part> parts;
  for (auto const shape : shapes) parts.push_back({static_cast<std::uint32_t>(shape), 1});
  return times.of(parts);
}

struct group_key {
  std::uint32_t label = 0;
  extent3 grid, block;
  friend auto operator<=>(group_key const&, group_key const&) = default;
};

template <class KeyOfShape>
std::vector<kernel_row> summarize_by(kernel_durations& durations, kernel_labels const& labels,
                                     KeyOfShape key_of) {
  std::map<group_key, std::vector<std::size_t>> groups;
  for (std::size_t shape = 0; shape < durations.shapes(); ++shape)
    if (durations.of(shape).count() > 0) groups[key_of(shape)].push_back(shape);

  std::vector<kernel_row> rows;
  rows.reserve(groups.size());
  for (auto const& [key, shapes] : groups)
    rows.push_back({labels.text(key.label), key.grid, key.block,
                    summarize_together(durations, shapes),
                    inferred_of(durations.inferred(), shapes)});
  std::stable_sort(rows.begin(), rows.end(), [](kernel_row const& a, kernel_row const& b) {
    return std::tie(b.time.total, a.time.count, a.name) <
           std::tie(a.time.total, b.time.count, b.name);
  });
  return rows;
}

}  // namespace

std::vector<kernel_row> kernels_by_name(kernel_durations& durations, kernel_labels const& labels) {
  return summarize_by(durations, labels, [&](std::size_t shape) {
    return group_key{
        .label = labels.label_of(static_cast<shape_id>(shape)), .grid = {}, .block = {}};
  });
}

std::vector<kernel_row> kernels_by_name_and_geometry(kernel_durations& durations,
                                                     kernel_labels const& labels,
                                                     std::span<kernel_shape const> shapes) {
  std::vector<kernel_shape const*> by_id(durations.shapes(), nullptr);
  for (auto const& shape : shapes)
    if (raw(shape.id) < by_id.size()) by_id[raw(shape.id)] = &shape;
  return summarize_by(durations, labels, [&](std::size_t shape) {
    group_key key{.label = labels.label_of(static_cast<shape_id>(shape)), .grid = {}, .block = {}};
    if (by_id[shape] != nullptr) {
      key.grid = by_id[shape]->grid;
      key.block = by_id[shape]->block;
    }
    return key;
  });
}

}  // namespace gpuprof::host
