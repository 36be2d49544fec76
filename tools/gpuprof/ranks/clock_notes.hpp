// SPDX-License-Identifier: Apache-2.0
// What a reader must know of the clocks behind figures that compare moments on several hosts.
#pragma once

#include "host/analysis/ranks/clock_offsets.hpp"

#include <string>
#include <vector>

namespace gpuprof {

std::vector<std::string> clock_notes(clock_offsets const& clocks);

}  // namespace gpuprof
