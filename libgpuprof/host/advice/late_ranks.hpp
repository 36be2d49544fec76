// SPDX-License-Identifier: Apache-2.0
// Finds the rank that the others wait for in their collectives, what it does for longer than they
// do, and what the steps of all would take without that.
#pragma once

#include "host/replay/step_graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host::advice {

/// What a rank does for longer than the others.
enum class late_cause : std::uint8_t { kernels, copies, cpu_work, calls };

struct late_rank {
  std::uint32_t rank = 0;  // index into recorded_steps::rank_names
  std::uint64_t collectives = 0, last_in = 0;
  std::uint32_t steps = 0, late_steps = 0;  // late: last in a collective, by 2 % of a step or more
  double late_ns = 0;  // mean of the steps: its start minus the median start of the others, at most
  late_cause cause{};
  double more_ns = 0;  // a step, beyond the median of the other ranks
  std::string what;    // the kernel, copy, range or call with most of it; empty: in no range
  /// What a step would save if it did as much as the others. If that cannot be replayed, from
  /// nothing to `late_ns`.
  double least_gain_ns = 0, greatest_gain_ns = 0;
  bool is_replayed = false;
};

/// Ranks that are late in more than half of the steps, by 2 % of a step in the mean, and that do
/// something for longer than the others which explains a quarter of that. Without such a reason a
/// rank is last by chance, or by the error of a clock. Times in which this profiler held a rank do
/// not make it late. `joined` has the steps of all ranks. Without calls in the captures waits of
/// the CPU look like work, so nothing is replayed, nor where the profiler held ranks for long.
std::vector<late_rank> find_late_ranks(replay::step_graph const& joined, bool has_calls);

}  // namespace gpuprof::host::advice
