// SPDX-License-Identifier: Apache-2.0
// When the kernels of a collective ran on one rank, by name.
#pragma once

#include "base/time.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuprof {

struct occurrence {
  timestamp_ns start, end;
};

/// In order of their start.
using collective_occurrences = std::map<std::string, std::vector<occurrence>>;

}  // namespace gpuprof
