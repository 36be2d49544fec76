// SPDX-License-Identifier: Apache-2.0
// Who waits for whom in collectives: when the kernels of the same collective begin on each rank.
#pragma once

#include "host/analysis/ranks/clock_offsets.hpp"
#include "host/analysis/samples.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof {

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

}  // namespace gpuprof
