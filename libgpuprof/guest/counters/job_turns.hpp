// SPDX-License-Identifier: Apache-2.0
// When a process reads launches and samples time, as one of several ranks of a job.
#pragma once

#include <cstdint>

namespace gpuprof::guest {

/// One of a job's processes, which wait for each other: what holds one holds all of them.
struct job_place {
  std::uint32_t rank = 0, ranks = 1;
};

/// Pure. Nothing is said from rank to rank: they go by the clock of the day, which the machines of
/// a job share to some milliseconds. Launches are read by one rank at a time, so that a step is
/// held by one; time is sampled by all of them at the same moments, so that what it costs does not
/// add up.
class job_turns {
 public:
  static constexpr std::uint64_t turn_ns = 1'000'000'000;
  /// Later in its turn a rank does not begin: setting up takes a quarter of it.
  static constexpr std::uint64_t begin_within_ns = turn_ns / 2;
  /// Of the moments at which bursts of samples begin, so much is one moment.
  static constexpr std::uint64_t moment_ns = 300'000'000;

  /// Bursts begin every `burst_every_ns`: the same in all ranks, and no less than it takes to earn
  /// one.
  constexpr job_turns(job_place place, std::uint64_t burst_every_ns) noexcept
      : place_(place), burst_every_ns_(burst_every_ns < moment_ns ? moment_ns : burst_every_ns) {}

  /// Nanoseconds since 1970, here and below.
  constexpr bool is_our_turn(std::uint64_t now_ns) const noexcept {
    return place_.ranks <= 1 || rank_at(now_ns) == place_.rank;
  }
  constexpr bool may_begin_to_read(std::uint64_t now_ns) const noexcept {
    return place_.ranks <= 1 || (is_our_turn(now_ns) && now_ns % turn_ns < begin_within_ns);
  }
  constexpr bool may_begin_burst(std::uint64_t now_ns) const noexcept {
    return place_.ranks <= 1 || now_ns % burst_every_ns_ < moment_ns;
  }

 private:
  /// Rank 0 has every second turn: it alone may spend in advance, see sampling_budget.
  constexpr std::uint64_t rank_at(std::uint64_t now_ns) const noexcept {
    auto const turn = now_ns / turn_ns;
    if (turn % 2 == 0) return 0;
    return 1 + turn / 2 % (place_.ranks - 1);
  }

  job_place place_;
  std::uint64_t burst_every_ns_;
};

}  // namespace gpuprof::guest
