// SPDX-License-Identifier: Apache-2.0
// Finds which rank waits for which in collectives, from the times at which the kernels of one
// collective begin on each rank, and sums this by rank and step.
#pragma once

#include "host/analysis/ranks/clock_offsets.hpp"
#include "host/analysis/samples.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host {

struct collective_row {
  std::string name;
  std::size_t ranks = 0;        // ranks that ran it
  std::uint64_t matched = 0;    // runs that were found on all of these ranks
  std::uint64_t unmatched = 0;  // kernels without a counterpart on another rank
  std::uint64_t kernel_ns = 0;  // of the matched kernels on all ranks
  statistics start_spread;      // last start - first start
  std::uint64_t wait_ns = 0;    // from each rank's start to the last start, summed over all ranks
  std::size_t last = 0;         // the rank that began last most often
  std::uint64_t times_last = 0;
  std::size_t waits_longest = 0;  // the rank with the longest total wait
};

/// Called for each matched kernel with its wait for the rank that began last, and with the number
/// of the run of a collective that it is a part of, counted from 0.
using wait_listener = std::function<void(std::size_t rank, occurrence const& kernel,
                                         std::uint64_t wait_ns, std::uint32_t run)>;

/// Kernels of one name on all ranks that have it form one collective if they ran at the same time
/// after clock correction; `tolerance_ns` is the error of that correction. Returns rows with the
/// longest wait first.
std::vector<collective_row> collective_waits(std::span<collective_occurrences const* const> ranks,
                                             clock_offsets const& clocks,
                                             std::uint64_t tolerance_ns,
                                             wait_listener const& heard = {});

/// How long a rank waited for the others, by step.
struct waits_of_rank {
  std::vector<std::uint64_t> by_step;  // up to the last step that launched a matched collective
  std::uint64_t outside_ns = 0;        // in collectives that no step launched
};

/// Returns one element per rank. The sum over all is the wait of collective_waits().
std::vector<waits_of_rank> waits_by_step(std::span<collective_occurrences const* const> ranks,
                                         clock_offsets const& clocks, std::uint64_t tolerance_ns);

}  // namespace gpuprof::host
