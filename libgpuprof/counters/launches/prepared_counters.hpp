// What is read on a device, as it was prepared: groups of metrics, and what of them one range
// profiler counts.
#pragma once

#include "counters/planning/host_profiler.hpp"

#include <string>
#include <vector>

namespace gpuprof {

/// Metrics that are read from the same launches of a kind, one for each pass.
struct prepared_group {
  std::vector<std::string> metrics;
  counter_configuration configuration;  // of these alone
  bool patches_kernels = false;
};

/// Groups that share a range profiler. Their passes follow on each other, in this order.
struct prepared_configuration {
  counter_configuration configuration;
  std::vector<std::string> metrics;  // of all its groups
  std::vector<unsigned> groups;
};

struct prepared_counters {
  std::vector<prepared_group> groups;
  /// As few configurations as can be, and one for each group, for chips that run the passes of a
  /// shared one in another order than is assumed.
  std::vector<prepared_configuration> together, apart;
};

/// Groups that rewrite kernels come after a group that does not where both then take as many passes
/// as they do apart: their passes are the last. What will not share stays apart.
result<prepared_counters> arranged(host_profiler const& chip, std::vector<prepared_group> groups,
                                   std::size_t most_passes);

}  // namespace gpuprof
