// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/workload_cells.hpp"

namespace gpuprof::host {

launch_tally& workload_cells::tally_of(std::uint32_t place, std::uint32_t workload) {
  auto const next = static_cast<std::uint32_t>(cells_.size());
  auto const [at, is_new] = cell_of_.try_emplace({place, workload}, next);
  if (is_new) cells_.push_back({place, workload, {}});
  return cells_[at->second].tally;
}

void workload_cells::add(std::uint32_t place, workload_times::seen const& seen, std::uint64_t ns) {
  if (!seen.undecided) {
    tally_of(place, seen.counted_as).add(seen.how, seen.is_new_launch, ns);
    return;
  }
  auto const [graph, is_new_graph_launch] = *seen.undecided;
  auto const next = static_cast<std::uint32_t>(undecided_.size());
  auto const [at, is_new] = undecided_of_.try_emplace({place, seen.workload, graph}, next);
  if (is_new) undecided_.push_back({place, seen.workload, graph, {}, {}});
  auto& of = undecided_[at->second];
  of.as_kernels.add(seen.how, true, ns);
  of.as_graph.add(seen.how, is_new_graph_launch, ns);
}

void workload_cells::decide(launch_metrics const& metrics, workload_times const& times) {
  for (auto const& of : undecided_)
    if (metrics.has_workload(times.id(of.graph)))
      tally_of(of.place, of.graph) += of.as_graph;
    else
      tally_of(of.place, of.workload) += of.as_kernels;
  undecided_.clear();
  undecided_of_.clear();
}

}  // namespace gpuprof::host
