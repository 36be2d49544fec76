// SPDX-License-Identifier: Apache-2.0
// The collectives of all ranks of a job, and how far the clocks of their hosts are apart.
#pragma once

#include "host/analysis/ranks/clock_offsets.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof {

struct job_collectives {
  std::vector<collective_occurrences const*> of_rank;
  clock_offsets clocks;
  std::uint64_t tolerance_ns = 0;  // how far these may be wrong

  bool empty() const noexcept;
};

/// Borrows from the digests, which must know this way of naming kernels.
job_collectives collectives_of(std::span<ranked_capture const> captures,
                               std::span<rank_digest const> digests, kernel_name_style style);

}  // namespace gpuprof
