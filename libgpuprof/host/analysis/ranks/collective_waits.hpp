// SPDX-License-Identifier: Apache-2.0
// Finds which rank waits for which in collectives: when the kernels of the same collective begin on
// each rank, and what that means for ranks and steps.
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
  std::size_t ranks = 0;        // that ran it
  std::uint64_t matched = 0;    // occurrences, each on all of these ranks
  std::uint64_t unmatched = 0;  // kernels without a counterpart on another rank
  std::uint64_t kernel_ns = 0;  // of the matched ones on all ranks
  statistics start_spread;      // last start - first start
  std::uint64_t wait_ns = 0;    // from each rank's start to the last one's, of all ranks
  std::size_t last = 0;         // the rank that began last most often
  std::uint64_t times_last = 0;
  std::size_t waits_longest = 0;  // the rank that waits longest in all
};

/// One collective, on the clock of the first host.
struct collective_meeting {
  std::vector<std::size_t> ranks;  // that took part
  std::size_t last = 0;            // of them the one that began last
  std::int64_t last_start = 0, median_start = 0;
};

/// Called for each matched kernel with how long it waited for the rank that began last.
using wait_listener =
    std::function<void(std::size_t rank, occurrence const& kernel, std::uint64_t wait_ns)>;

/// Kernels of one name on all ranks that have it are one collective when they ran at the same
/// time, clocks corrected; `tolerance_ns` is how far these may be wrong. Longest wait first.
/// `meetings`: where each matched collective is added; null: nowhere.
std::vector<collective_row> collective_waits(std::span<collective_occurrences const* const> ranks,
                                             clock_offsets const& clocks,
                                             std::uint64_t tolerance_ns,
                                             std::vector<collective_meeting>* meetings = nullptr,
                                             wait_listener const& heard = {});

/// Which rank the others wait for in collectives, and in how many steps.
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

/// How long each rank waited for the others in each of its steps.
struct waits_of_rank {
  std::vector<std::uint64_t> by_step;  // up to the last step that launched a matched collective
  std::uint64_t outside_ns = 0;        // of collectives that no step launched
};

/// By rank. All of them together are the waits of collective_waits().
std::vector<waits_of_rank> waits_by_step(std::span<collective_occurrences const* const> ranks,
                                         clock_offsets const& clocks, std::uint64_t tolerance_ns);

}  // namespace gpuprof::host
