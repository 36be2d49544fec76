// SPDX-License-Identifier: Apache-2.0
// Data of captures for the reports over ranks. For each capture: totals and the times of
// collectives, read in one pass and small compared to the capture. For all together: their
// collectives.
#pragma once

#include "host/analysis/ranks/clock_offsets.hpp"
#include "host/analysis/ranks/held_waits.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "host/reading/trace_contents.hpp"
#include "ranks/capture_set.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

struct rank_digest {
  struct amount {
    std::uint64_t count = 0, ns = 0;
    std::uint64_t work_ns = 0;  // for ranges: kernels launched inside, without collectives
  };
  using amounts = std::map<std::string, amount>;
  struct names {  // for one style of kernel names
    amounts kernels;
    collective_occurrences collectives;
  };

  std::uint64_t kernels = 0, work_ns = 0, collective_ns = 0;
  std::optional<std::uint64_t> launches;
  std::uint64_t busy_ns = 0, window_ns = 0;
  std::size_t devices = 0;
  std::string gpus;
  std::optional<std::int64_t> wall_over_monotonic;
  std::uint64_t clock_step_ns = 0;  // total by which the wall clock was set during the capture
  std::map<std::pair<std::string, range_style>, amount> ranges;  // by name
  std::map<kernel_name_style, names> by_style;
  held_times held;           // by this profiler, while no GPU worked
  std::uint64_t slowed = 0;  // launches whose time was replaced by that of others
};

struct digest_wants {
  bool ranges = false;
  std::set<kernel_name_style> styles;
  step_ranges const* steps = nullptr;  // gives collectives their step; needs ranges
};

rank_digest read_digest(trace_contents& trace, selection const& wanted, range_scope scope,
                        digest_wants const& wants);

/// The collectives of all ranks of a job, and the differences between the clocks of their hosts.
struct job_collectives {
  std::vector<collective_occurrences const*> of_rank;
  clock_offsets clocks;
  std::uint64_t tolerance_ns = 0;  // possible error of the differences

  bool empty() const noexcept;
};

/// Borrows from the digests, which must include this style of names.
job_collectives collectives_of(std::span<ranked_capture const> captures,
                               std::span<rank_digest const> digests, kernel_name_style style);

/// The times in which each rank waited in collectives because this profiler held another one.
std::vector<std::vector<held_wait>> waits_for_held(std::span<ranked_capture const> captures,
                                                   std::span<rank_digest const> digests,
                                                   kernel_name_style style);

/// How long these times are. Only those in `counted` count, one list per rank; an empty list: all.
std::vector<double> waits_for_held_ns(std::span<ranked_capture const> captures,
                                      std::span<rank_digest const> digests,
                                      std::span<std::vector<time_stretch> const> counted);

/// Books such a wait as time of the profiler, and returns how much that is: a wait beside kernels
/// costs nothing. Which waits these are is not known: as many as of the communication.
double book_wait_for_held(bucket_times& times, double ns);

}  // namespace gpuprof::host::command
