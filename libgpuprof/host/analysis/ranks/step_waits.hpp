// SPDX-License-Identifier: Apache-2.0
// How long each rank waited for the others in each of its steps.
#pragma once

#include "host/analysis/ranks/collective_waits.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof {

struct waits_of_rank {
  std::vector<std::uint64_t> by_step;  // up to the last step that launched a matched collective
  std::uint64_t outside_ns = 0;        // of collectives that no step launched
};

/// By rank. All of them together are the waits of collective_waits().
std::vector<waits_of_rank> waits_by_step(std::span<collective_occurrences const* const> ranks,
                                         clock_offsets const& clocks, std::uint64_t tolerance_ns);

}  // namespace gpuprof
