// SPDX-License-Identifier: Apache-2.0
// How chosen metrics are read on a chip: in which passes over successive launches, which of them by
// sampling.
#pragma once

#include "guest/metrics/planning/metric_catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// CUPTI counts it by rewriting the kernel, which runs slower then.
bool patches_kernel(std::string const& metric);
/// Groups that were made for sampling; around launches each would take a pass of its own.
bool is_for_sampling(std::string const& metric);

struct plan_inputs {
  std::string chip;
  std::vector<std::string> metrics;  // with suffixes, what matters most first
  /// Counter availability images of the GPU at hand; empty: everything that such chips have.
  std::vector<std::uint8_t> range_availability, sampling_availability;
  /// Called now and then with how many combinations have been tried. May be empty.
  std::function<void(std::size_t)> on_progress;
};

struct planned_metric {
  std::string name;
  /// Alone; 0: this engine cannot read it.
  std::size_t launch_passes = 0, sampling_passes = 0;
};

/// Metrics that are read together.
struct launch_group {
  std::vector<std::string> metrics;
  /// One launch each. 1: every launch yields all these metrics. More: that many launches of the
  /// same work yield them once.
  std::size_t passes = 1;
  /// Counts instructions by rewriting the kernel: it runs slower then, so that nothing else should
  /// be read from that launch.
  bool patches_kernel = false;
};

struct pass_plan {
  std::string chip;
  std::vector<planned_metric> metrics;  // those that some engine reads, in the order asked
  std::vector<unusable_metric> unusable;
  std::vector<launch_group> launches;  // first the group that matters most
  std::vector<std::string> sampled;    // read together in the one pass that sampling allows
  /// That all metrics would take which can be sampled; 1: `sampled` has all of them. 0: none can.
  std::size_t sampling_passes = 0;
  std::string sampling_refused;  // why nothing can be sampled on this chip; else empty

  /// Launches of the same work until every metric was read once.
  std::size_t launch_passes() const noexcept;
};

/// Takes some 3 ms a metric, without GPU. Fails when nothing at all can be planned: no counters in
/// this libcupti, or an unknown chip. A metric that cannot be read is in the plan as unusable.
result<pass_plan> plan_passes(cupti_api const& api, plan_inputs const& inputs);

}  // namespace gpuprof::guest
