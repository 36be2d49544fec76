// SPDX-License-Identifier: Apache-2.0
// Joins the recorded steps of several ranks into one recording, with the collectives in which they
// wait for each other.
#pragma once

#include "host/replay/recorded_steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host::replay {

/// Steps of one rank. All ranks count from the same moment, on one clock.
struct steps_of_rank {
  std::string name;  // "1"
  recorded_steps steps;
};

struct joined_ranks {
  recorded_steps steps;
  /// Kernels of collectives without counterparts on the other ranks: nothing says what they waited
  /// for.
  std::uint64_t unmatched = 0;
};

/// The first rank gives the steps and their end. Kernels of one collective belong together if they
/// ran at the same time, with `tolerance_ns` as the error of the clocks. There must be a rank.
joined_ranks join_ranks(std::vector<steps_of_rank> ranks, std::uint64_t tolerance_ns);

}  // namespace gpuprof::host::replay
