// SPDX-License-Identifier: Apache-2.0
// Which rank the others wait for in collectives, and in how many steps.
#pragma once

#include "host/analysis/ranks/collective_waits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof {

struct rank_lateness {
  std::uint64_t collectives = 0;  // in which it took part
  std::uint64_t last_in = 0;      // of those: it began after all others
  std::uint64_t steps = 0;        // in which there were any
  std::uint64_t late_steps = 0;   // of those: it was late in one of them by 2 % of the step or more
  double late_ns = 0;             // the sum over `last_in` of its start minus the median start
};

/// By rank. `step_ns`: how long a step takes; 0: not known, and nothing is said of any rank.
std::vector<rank_lateness> lateness_of(std::span<collective_meeting const> meetings,
                                       std::size_t ranks, double step_ns);

}  // namespace gpuprof
