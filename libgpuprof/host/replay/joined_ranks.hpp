// SPDX-License-Identifier: Apache-2.0
// Joins the recorded steps of several ranks into one recording, with the collectives in which they
// wait for each other.
#pragma once

#include "host/replay/recorded_steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host::replay {

struct steps_of_rank {
  std::string name;           // "1"
  std::int64_t begin_ns = 0;  // of its first step, from which it counts, by one clock for all ranks
  recorded_steps steps;
};

struct joined_ranks {
  recorded_steps steps;
  /// Kernels of collectives without counterparts on the other ranks: nothing says what they waited
  /// for.
  std::uint64_t unmatched = 0;
};

/// Ranks have the same steps; the first one says how long they are. Kernels of one collective
/// belong together if they ran at the same time, with `tolerance_ns` as the error of the clocks.
/// There must be a rank.
joined_ranks join_ranks(std::vector<steps_of_rank> ranks, std::uint64_t tolerance_ns);

}  // namespace gpuprof::host::replay
