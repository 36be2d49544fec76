// SPDX-License-Identifier: Apache-2.0
// Plans how the chosen metrics are read on a chip: in which passes over successive launches, and
// which of them by sampling.
#pragma once

#include "guest/metrics/planning/metric_catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// CUPTI counts this metric by rewriting the kernel, which then runs slower.
bool patches_kernel(std::string const& metric);
/// True for metric groups that were made for sampling. Around launches, each would take its own
/// pass.
bool is_for_sampling(std::string const& metric);

struct plan_inputs {
  std::string chip;
  std::vector<std::string> metrics;  // with suffixes, most important first
  /// Counter availability images of the GPU. If empty, everything that such chips have is allowed.
  std::vector<std::uint8_t> range_availability, sampling_availability;
  /// Called from time to time with the number of combinations tried so far. May be empty.
  std::function<void(std::size_t)> on_progress;
};

struct planned_metric {
  std::string name;
  /// Passes if it is read without other metrics. 0: this engine cannot read it.
  std::size_t launch_passes = 0, sampling_passes = 0;
};

/// Metrics that are read together.
struct launch_group {
  std::vector<std::string> metrics;
  /// Each pass takes one launch. 1: every launch yields all metrics of the group. n: n launches of
  /// the same signature yield them once.
  std::size_t passes = 1;
  /// Counting rewrites the kernel. It then runs slower, so nothing else should be read from that
  /// launch.
  bool patches_kernel = false;
};

struct pass_plan {
  std::string chip;
  std::vector<planned_metric> metrics;  // metrics that some engine can read, in the order requested
  std::vector<unusable_metric> unusable;
  std::vector<launch_group> launches;  // most important group first
  std::vector<std::string> sampled;    // read together in the one pass that sampling allows
  /// Passes for all metrics that can be sampled. 1: `sampled` has all of them. 0: none can be
  /// sampled.
  std::size_t sampling_passes = 0;
  std::string sampling_refused;  // reason if nothing can be sampled on this chip; else empty

  /// Number of launches of the same signature until every metric has been read once.
  std::size_t launch_passes() const noexcept;
};

/// Takes about 3 ms per metric and needs no GPU. Fails only if nothing can be planned: this
/// libcupti has no counters, or the chip is unknown. A metric that cannot be read is listed as
/// unusable in the plan.
result<pass_plan> plan_passes(cupti_api const& api, plan_inputs const& inputs);

}  // namespace gpuprof::guest
