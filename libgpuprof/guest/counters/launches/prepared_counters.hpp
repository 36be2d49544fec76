// SPDX-License-Identifier: Apache-2.0
// What is read on a device, as it was prepared: groups of metrics.
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

/// What samples in time cannot tell comes first: where launches are chosen, kernels rewritten to
/// count their instructions.
using prepared_counters = std::vector<prepared_group>;

/// Each needs a pass of its own, and few kernels need them: they are a group apart.
bool counts_tensor_operations(std::vector<std::string> const& metrics);

struct counters_to_prepare {
  std::vector<std::string> metrics;  // what matters most first
  std::vector<std::uint8_t> availability;
  bool one_pass = false;  // around every launch, so that each tells the same
};

/// Needs no GPU. What cannot be read is a line in `warnings`, and the rest goes on.
result<prepared_counters> prepare_counters(cupti_api const& api, host_profiler const& chip,
                                           counters_to_prepare const& wanted,
                                           std::vector<std::string>& warnings);

}  // namespace gpuprof::guest
