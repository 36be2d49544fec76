// SPDX-License-Identifier: Apache-2.0
// The groups of metrics that are read on a device, as prepared.
#pragma once

#include "guest/metrics/planning/host_profiler.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// Metrics that one range profiler counts, from the same launches of a signature, one for each
/// pass.
struct prepared_group {
  std::vector<std::string> metrics;
  counter_configuration configuration;
  bool rewrites = false;  // CUPTI rewrites the kernels to count these
};

/// Metrics that sampling cannot give come first, which are those that need rewritten kernels, if
/// launches are chosen.
using prepared_counters = std::vector<prepared_group>;

/// True for metrics of tensor operations. Each needs its own pass and few kernels need them, so
/// they form a separate group.
bool counts_tensor_operations(std::vector<std::string> const& metrics);

struct counters_to_prepare {
  std::vector<std::string> metrics;  // the most important first
  std::vector<std::uint8_t> availability;
  bool one_pass = false;  // around every launch, so that all give the same metrics
};

/// Needs no GPU. Metrics that cannot be read add a line to `warnings` and are left out.
result<prepared_counters> prepare_counters(cupti_api const& api, host_profiler const& chip,
                                           counters_to_prepare const& wanted,
                                           std::vector<std::string>& warnings);

}  // namespace gpuprof::guest
