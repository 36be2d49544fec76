// SPDX-License-Identifier: Apache-2.0
// What is read on a device, as it was prepared: groups of metrics.
#pragma once

#include "counters/planning/host_profiler.hpp"

#include <string>
#include <vector>

namespace gpuprof {

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

}  // namespace gpuprof
