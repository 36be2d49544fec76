// SPDX-License-Identifier: Apache-2.0
// Computes the clock offsets between hosts from events that must end on all of them at once.
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

/// One run of a collective's kernel on one rank.
struct occurrence {
  timestamp_ns start, end;
  std::uint32_t step = no_step;  // step of its rank that launched it
};

/// Runs by kernel name, sorted by start.
using collective_occurrences = std::map<std::string, std::vector<occurrence>>;

/// Data of one rank, from its capture.
struct rank_timeline {
  std::string host;  // empty: not known, counts as a separate host
  /// CLOCK_REALTIME - CLOCK_MONOTONIC. All processes of a host have the same value unless its wall
  /// clock was set in between.
  std::optional<std::int64_t> wall_over_monotonic;
  collective_occurrences const* collectives = nullptr;
};

struct host_clock {
  std::string host;
  std::int64_t ahead_ns = 0;  // ahead of the clock of the first host
  /// Half of the span of the middle 80 % of the differences. Nothing: not known, because no
  /// collective could be used.
  std::optional<std::uint64_t> error_ns;
  std::size_t ends = 0;      // number of collective ends used
  bool was_stepped = false;  // its wall clock was set between the starts of its ranks
};

struct clock_offsets {
  std::vector<host_clock> hosts;      // the first is the reference
  std::vector<std::int64_t> of_rank;  // to be subtracted from the times of each rank
};

/// Returns true if the collective ends on all ranks at nearly the same time, such as all-reduce.
/// The root of a broadcast or reduction may end before or after the others.
bool ends_together(std::string_view kernel);

/// Ranks of one host share a clock. Other hosts are aligned by the k-th ends of collectives that
/// ran equally often on a rank of both hosts.
clock_offsets offsets_of(std::span<rank_timeline const> ranks);

}  // namespace gpuprof::host
