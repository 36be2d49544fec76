// SPDX-License-Identifier: Apache-2.0
// What each hardware counter says of each kernel, and of each range.
#pragma once

#include "host/analysis/range_workloads.hpp"
#include "host/analysis/workload_metrics.hpp"
#include "host/analysis/workload_times.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host {

struct metric_row {
  std::string metric;
  std::string name;                 // of the kernel; empty in rows of ranges
  range_key range;                  // ranges only
  bool is_outside = false;          // likewise: of launches outside any range
  std::uint64_t instances = 0;      // likewise
  std::uint64_t launches = 0;       // of workloads in which the metric was read
  std::uint64_t samples = 0;        // readings; of samples in time the launches in them
  double average = 0;               // of these launches: each stands for itself, sampled or not
  std::optional<double> deviation;  // of the readings; where there are no others
  double error = 0;                 // of the average, one standard error
  figure_source source{};
  bool is_shared = false;       // other launches ran beside for most of the time
  std::optional<double> total;  // over these launches; of amounts (".sum") only
};

/// By kernel and metric; kernels by their total time, metrics in the order of the plan. Graphs that
/// were read as a whole have lines beside their kernels.
std::vector<metric_row> metrics_by_kernel(workload_metrics const& metrics,
                                          workload_times const& times, kernel_labels const& labels);
/// The same by range.
std::vector<metric_row> metrics_by_range(workload_metrics const& metrics,
                                         workload_times const& times,
                                         std::span<range_work const> ranges);

}  // namespace gpuprof::host
