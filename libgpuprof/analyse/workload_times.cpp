#include "analyse/workload_times.hpp"

namespace gpuprof {

std::string listed_name(workload_id const& id, kernel_labels const& labels) {
  if (raw(id.graph) != 0) return "[CUDA graph " + std::to_string(raw(id.graph)) + "]";
  return labels.text(labels.label_of(id.shape));
}

std::uint32_t workload_times::index_of(workload_id const& id) {
  auto const next = static_cast<std::uint32_t>(workloads_.size());
  auto const [at, is_new] = index_.try_emplace(id, next);
  if (is_new) workloads_.push_back({id, {}, 0, 0, {}});
  return at->second;
}

workload_times::seen workload_times::note(std::uint32_t index, correlation_id correlation,
                                          duration_ns duration) {
  auto& workload = workloads_[index];
  seen result{index, metrics_.sampling_of(correlation), true};
  if (raw(workload.id.graph) != 0)
    result.is_new_launch = workload.graph_launches.insert(raw(correlation)).second;
  auto const ns = nanoseconds(duration);
  workload.all.add(result.how, result.is_new_launch, ns);
  if (result.how == sampling::none) {
    workload.unsampled_launches += result.is_new_launch;
    workload.unsampled_ns += ns;
  }
  return result;
}

workload_id workload_times::id_of(kernel_record const& kernel) const {
  workload_id const graph{kernel.device, {}, kernel.graph};
  if (raw(kernel.graph) != 0 && metrics_.has_workload(graph)) return graph;
  return {kernel.device, kernel.shape, {}};
}

workload_times::seen workload_times::add(kernel_record const& kernel) {
  return note(index_of(id_of(kernel)), kernel.correlation, kernel.duration);
}

workload_times::seen workload_times::add(graph_record const& graph) {
  return note(index_of(id_of(graph)), graph.correlation, graph.duration);
}

std::uint32_t workload_times::add(workload_id const& id, launch_tally const& all,
                                  launch_tally const& sampled) {
  auto const index = index_of(id);
  auto& workload = workloads_[index];
  workload.all = all;
  // Sums that grew beside each other: where they contradict, it is not known what is left.
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

double workload_times::time_of(std::uint32_t index, launch_tally const& part) const noexcept {
  if (part.slowed_launches == 0) return static_cast<double>(part.ns);
  auto const mean = undisturbed_mean(index);
  return static_cast<double>(part.ns) + (mean ? *mean * static_cast<double>(part.slowed_launches)
                                              : static_cast<double>(part.slowed_ns));
}

}  // namespace gpuprof
