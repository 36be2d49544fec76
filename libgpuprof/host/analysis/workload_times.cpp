// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/workload_times.hpp"

namespace gpuprof::host {

std::string listed_name(workload_id const& id, kernel_labels const& labels) {
  if (raw(id.graph) != 0) return "[CUDA graph " + std::to_string(raw(id.graph)) + "]";
  return labels.text(labels.label_of(id.shape));
}

std::uint32_t workload_times::index_of(workload_id const& id) {
  auto const next = static_cast<std::uint32_t>(workloads_.size());
  auto const [at, is_new] = index_.try_emplace(id, next);
  if (is_new) workloads_.emplace_back().id = id;
  return at->second;
}

bool workload_times::is_new_graph_launch(ran& graph, correlation_id correlation) {
  if (graph.last_launch == correlation && raw(correlation) != 0) return false;
  graph.last_launch = correlation;
  return graph.graph_launches.insert(raw(correlation)).second;
}

void workload_times::note(ran& workload, sampling how, bool is_new_launch,
                          std::uint64_t ns) noexcept {
  workload.all.add(how, is_new_launch, ns);
  if (how != sampling::none) return;
  workload.unsampled_launches += is_new_launch;
  workload.unsampled_ns += ns;
}

workload_times::seen workload_times::add(kernel_record const& kernel) {
  auto const index = index_of(id_of(kernel));
  seen result{index, index, metrics_.sampling_of(kernel.correlation), true, {}};
  auto const ns = nanoseconds(kernel.duration);
  note(workloads_[index], result.how, true, ns);
  if (raw(kernel.graph) == 0) return result;
  workload_id const id{kernel.device, {}, kernel.graph};
  auto const of_graph = index_of(id);
  auto& graph = workloads_[of_graph];
  bool const is_new_launch = is_new_graph_launch(graph, kernel.correlation);
  note(graph, result.how, is_new_launch, ns);
  graph.nodes[index].add(result.how, true, ns);
  inferred_.add(kernel, index);
  inferred_.add(kernel, of_graph);
  if (!metrics_.is_joined()) result.undecided = {of_graph, is_new_launch};
  if (!metrics_.has_workload(id)) return result;
  result.counted_as = of_graph;
  result.is_new_launch = is_new_launch;
  return result;
}

workload_times::seen workload_times::add(graph_record const& graph) {
  auto const index = index_of(id_of(graph));
  seen const result{index,
                    index,
                    metrics_.sampling_of(graph.correlation),
                    is_new_graph_launch(workloads_[index], graph.correlation),
                    {}};
  note(workloads_[index], result.how, result.is_new_launch, nanoseconds(graph.duration));
  return result;
}

std::uint32_t workload_times::add(workload_id const& id, launch_tally const& all,
                                  launch_tally const& sampled) {
  auto const index = index_of(id);
  auto& workload = workloads_[index];
  workload.all = all;
  // The sums grew independently: if they contradict each other, the rest is not known.
  auto const all_ns = all.ns + all.slowed_ns, sampled_ns = sampled.ns + sampled.slowed_ns;
  if (sampled.launches >= all.launches || sampled_ns > all_ns) return index;
  workload.unsampled_launches = all.launches - sampled.launches;
  workload.unsampled_ns = all_ns - sampled_ns;
  return index;
}

std::optional<double> workload_times::undisturbed_mean(std::uint32_t index) const noexcept {
  auto const& workload = workloads_[index];
  if (workload.unsampled_launches > 0)
    return static_cast<double>(workload.unsampled_ns) /
           static_cast<double>(workload.unsampled_launches);
  auto const plain = workload.all.launches - workload.all.slowed_launches;
  if (plain > 0) return static_cast<double>(workload.all.ns) / static_cast<double>(plain);
  return std::nullopt;
}

inferred_time workload_times::inferred(std::span<launched_part const> parts) const {
  if (!inferred_.any()) return {};
  std::vector<inferred_times::part> shares;
  for (auto const& part : parts)
    if (auto const launches = tally(part.workload).launches; launches > 0)
      shares.push_back({part.workload, part.launches / static_cast<double>(launches)});
  return inferred_.of(shares);
}

double workload_times::time_of(std::uint32_t index, launch_tally const& part) const noexcept {
  if (part.slowed_launches == 0) return static_cast<double>(part.ns);
  auto const mean = undisturbed_mean(index);
  return static_cast<double>(part.ns) + (mean ? *mean * static_cast<double>(part.slowed_launches)
                                              : static_cast<double>(part.slowed_ns));
}

}  // namespace gpuprof::host
