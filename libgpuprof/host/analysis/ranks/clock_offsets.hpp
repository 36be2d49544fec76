// SPDX-License-Identifier: Apache-2.0
// How far the clocks of hosts are apart, from what must happen on all of them at once.
#pragma once

#include "base/time.hpp"
#include "host/analysis/timeline/step_ranges.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host {

/// When the kernels of a collective ran on one rank, by name.
struct occurrence {
  timestamp_ns start, end;
  std::uint32_t step = no_step;  // of its rank, that launched it
};

/// In order of their start.
using collective_occurrences = std::map<std::string, std::vector<occurrence>>;

/// Of one rank, as its capture has it.
struct rank_timeline {
  std::string host;  // empty: not known, a host of its own
  /// CLOCK_REALTIME - CLOCK_MONOTONIC; the same for all processes of a host unless its wall clock
  /// was set meanwhile.
  std::optional<std::int64_t> wall_over_monotonic;
  collective_occurrences const* collectives = nullptr;
};

struct host_clock {
  std::string host;
  std::int64_t ahead_ns = 0;  // of the clock of the first host
  /// Half of what the middle 80 % of the differences span; nothing: not known, no collective tells.
  std::optional<std::uint64_t> error_ns;
  std::size_t ends = 0;      // of collectives, that this is from
  bool was_stepped = false;  // its wall clock was set between the starts of its ranks
};

struct clock_offsets {
  std::vector<host_clock> hosts;      // the first: the reference
  std::vector<std::int64_t> of_rank;  // to be taken from the times of each rank
};

/// Whether such a collective ends on all ranks at nearly the same moment: all-reduce and the like.
/// A root of a broadcast or of a reduction may end before or after the others.
bool ends_together(std::string_view kernel);

/// Ranks of one host share a clock. Other hosts are aligned by the k-th ends of collectives that
/// ran equally often on a rank of either.
clock_offsets offsets_of(std::span<rank_timeline const> ranks);

}  // namespace gpuprof::host
