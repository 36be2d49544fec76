// SPDX-License-Identifier: Apache-2.0
// Finds the times in which ranks waited in collectives for a rank that this profiler held.
#pragma once

#include "base/time.hpp"
#include "host/analysis/ranks/collective_waits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// The times in which a rank was held: while the profiler set up counters or read them.
class held_times {
 public:
  held_times() = default;
  /// They may overlap.
  explicit held_times(std::vector<time_stretch> stretches);
  std::uint64_t between(timestamp_ns from, timestamp_ns to) const noexcept;
  bool empty() const noexcept { return stretches_.empty(); }
  /// Apart from each other, in order.
  std::vector<time_stretch> const& all() const noexcept { return stretches_; }

 private:
  std::vector<time_stretch> stretches_;
};

/// Finds the part of held times in which no GPU of the rank worked. Only that delays its work: a
/// thread that runs ahead of its GPU may be held for a while.
class held_idle_times {
 public:
  explicit held_idle_times(held_times held) : held_(std::move(held)) {}
  /// Add work in order of its start.
  void add_work(timestamp_ns start, timestamp_ns end);
  /// After the last work no idle time counts.
  held_times finish() { return held_times(std::move(idle_)); }

 private:
  held_times held_;
  std::vector<time_stretch> idle_;
  timestamp_ns busy_until_;
  std::size_t next_ = 0;  // in held_: those before ended before the last work
};

/// A time in which a rank waited in a collective for a held one.
struct held_wait {
  time_stretch time;             // by the clock of the rank that waited
  std::uint32_t step = no_step;  // the step of this rank that launched the collective
};

/// Returns one list per rank, in order of time. Without the held times after its collective before,
/// each rank would have begun its part earlier: what a rank waits beyond the last of these begins
/// is the profiler's. `held` has an element for each rank. Waits in collectives of several streams
/// overlap.
std::vector<std::vector<held_wait>> waits_for_held(
    std::span<collective_occurrences const* const> ranks, clock_offsets const& clocks,
    std::uint64_t tolerance_ns, std::span<held_times const> held);

}  // namespace gpuprof::host
