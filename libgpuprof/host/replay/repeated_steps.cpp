// SPDX-License-Identifier: Apache-2.0
#include "host/replay/repeated_steps.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host::replay {
namespace {

constexpr std::size_t shown_kernels = 3;

}  // namespace

repeated_steps repeated_steps_of(step_graph const& graph) {
  std::vector<std::vector<std::uint32_t>> steps;  // names of work
  for (auto const& point : graph.points()) {
    if (point.lane != 0) continue;
    if (point.kind == point_kind::step_begin) steps.emplace_back();
    if (steps.empty()) continue;
    for (auto const item : point.items) steps.back().push_back(graph.items()[item].name);
  }
  std::map<std::vector<std::uint32_t>, std::size_t> counts;
  for (auto const& step : steps) ++counts[step];
  auto const most =
      std::max_element(counts.begin(), counts.end(),
                       [](auto const& a, auto const& b) { return a.second < b.second; });
  repeated_steps found;
  if (most == counts.end()) return found;
  found.share = static_cast<double>(most->second) / static_cast<double>(steps.size());
  found.launches = most->first.size();
  for (auto const name : most->first)
    if (found.kernels.size() < shown_kernels)
      found.kernels.push_back(graph.recorded().work_names[name]);
  return found;
}

}  // namespace gpuprof::host::replay
