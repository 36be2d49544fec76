// SPDX-License-Identifier: Apache-2.0
// Measures how fast a kernel works whose blocks are all resident and all do the same: turns what
// blocks wrote down of themselves into rates.
#pragma once

#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/kernels/kernel_arguments.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof::guest::peaks {

// Turns what blocks wrote down of themselves into rates. Pure.

/// One launch of a kernel whose blocks all do the same work and are all resident at once.
struct launch_rates {
  double per_clock = 0;   // work in one cycle of one SM: the median over the SMs
  double per_second = 0;  // work of all blocks from the first start to the last end
  double seconds = 0;
  double sm_clock_mhz =
      0;  // as the kernel saw it: cycles over nanoseconds, the median of the blocks
  bool folds_agree = false;  // all blocks came to the same result
};

/// `work` is that of one block. Rates and seconds are 0 when a block was too short for the timer.
launch_rates rates_of(std::span<block_span const> blocks, double work);

/// Seconds from the first of `starts` to the last of `ends`; 0 when there is none.
double seconds_between(std::span<block_span const> starts, std::span<block_span const> ends);

double median_of(std::vector<double> values);

/// (greatest - least) / median; 0 of nothing.
double spread_of(std::vector<double> const& values);

struct throughput_job {
  kernel_launch launch;       // iterations are chosen here
  double work = 0;            // of one block in one iteration
  std::uint64_t granule = 1;  // iterations come in multiples of this
  bool rests = false;         // between launches: for what the power limit would slow down
  /// What each block must come to in one granule, n times as much in n; empty: all to the same.
  std::vector<std::uint32_t> folds = {};
};

struct throughput_figures {
  peak_figure per_clock, burst;
  std::uint64_t iterations = 0;  // of a run of about a millisecond
};

/// One launch. Throws no_figure when blocks disagree on the result. Rates are 0 of a launch that
/// was too short.
launch_rates run_once(lab& in, throughput_job const& job, std::uint64_t iterations);

/// The first launches only find out how many iterations take a millisecond.
throughput_figures measure_throughput(lab& in, throughput_job const& job);

/// Launches of up to 10 ms, one after the other.
peak_figure sustain_throughput(lab& in, throughput_job const& job, std::uint64_t iterations_of_1_ms,
                               double seconds);

/// The burst is the best that was seen: by a tenth of a per cent a long run may be better than the
/// short ones, where power does not slow it down.
peak_figure best_burst(peak_figure const& burst, peak_figure const& sustained) noexcept;

}  // namespace gpuprof::guest::peaks
