// SPDX-License-Identifier: Apache-2.0
// When the kernels of a collective ran on one rank, by name.
#pragma once

#include "base/time.hpp"
#include "host/analysis/timeline/step_ranges.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuprof {

struct occurrence {
  timestamp_ns start, end;
  std::uint32_t step = no_step;  // of its rank, that launched it
};

/// In order of their start.
using collective_occurrences = std::map<std::string, std::vector<occurrence>>;

}  // namespace gpuprof
