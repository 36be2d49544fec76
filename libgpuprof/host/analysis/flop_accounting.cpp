// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/flop_accounting.hpp"

namespace gpuprof::host {

counted_flop count_flop(launch_metrics const& metrics, workload_id const& workload,
                        std::string_view chip, kernel_code const* code) {
  counter_means means;
  for (std::size_t i = 0; i < flop_counter_count; ++i) {
    auto const metric = flop_counters()[i].metric;
    if (auto const* const values = metrics.find(workload, metric)) means.of[i] = values->mean();
    means.was_planned[i] = metrics.was_planned(workload.device, metric);
  }
  return count_flop(means, chip, code);
}

std::vector<flop_part> flop_parts(launch_metrics const& metrics, workload_id const& workload) {
  std::vector<flop_part> parts;
  for (auto const& counter : flop_counters())
    if (auto const* const values = metrics.find(workload, counter.metric);
        values != nullptr && values->mean() > 0)
      parts.push_back({&counter, counter.operations * values->mean()});
  return parts;
}

}  // namespace gpuprof::host
