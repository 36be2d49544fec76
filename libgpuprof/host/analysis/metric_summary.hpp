// SPDX-License-Identifier: Apache-2.0
// Summarizes each hardware counter for each kernel and each range.
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
  std::string name;             // of the kernel; empty in rows of ranges
  range_key range;              // only in rows of ranges
  bool is_outside = false;      // only in rows of ranges: launches outside any range
  std::uint64_t instances = 0;  // only in rows of ranges
  std::uint64_t launches = 0;   // of workloads that have the metric
  // number of readings; for sampled metrics, of launches in the samples
  std::uint64_t samples = 0;
  double average = 0;               // mean over these launches, each weighted equally
  std::optional<double> deviation;  // of the readings; empty if the value uses samples
  double error = 0;                 // one standard error of the average
  figure_source source{};
  bool is_shared = false;       // other launches ran at the same time for most of the time
  std::optional<double> total;  // sum over these launches; only for amounts (".sum")
};

/// Returns rows by kernel and metric; kernels are sorted by total time, metrics by the order of the
/// plan. Graphs that were read as a whole have rows in addition to their kernels.
std::vector<metric_row> metrics_by_kernel(workload_metrics const& metrics,
                                          workload_times const& times, kernel_labels const& labels);
/// As metrics_by_kernel(), but by range.
std::vector<metric_row> metrics_by_range(workload_metrics const& metrics,
                                         workload_times const& times,
                                         std::span<range_work const> ranges);

}  // namespace gpuprof::host
