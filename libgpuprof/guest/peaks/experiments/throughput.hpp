// SPDX-License-Identifier: Apache-2.0
// Measures the throughput of a kernel whose blocks are all resident and do the same work. Computes
// rates from the times that blocks recorded.
#pragma once

#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/kernels/kernel_arguments.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof::guest::peaks {

// Computes rates from the times that blocks recorded. Pure.

/// One launch of a kernel whose blocks all do the same work and are all resident at once.
struct launch_rates {
  double per_clock = 0;   // work per cycle of one SM: the median over the SMs
  double per_second = 0;  // work of all blocks from the first start to the last end
  double seconds = 0;
  double sm_clock_mhz =
      0;  // SM clock from cycles and nanoseconds of the kernel, the median of the blocks
  bool folds_agree = false;  // all blocks have the same result
};

/// `work` is the work of one block. Rates and seconds are 0 if a block was too short for the timer.
launch_rates rates_of(std::span<block_span const> blocks, double work);

/// Returns the seconds from the first of `starts` to the last of `ends`, or 0 if there is none.
double seconds_between(std::span<block_span const> starts, std::span<block_span const> ends);

double median_of(std::vector<double> values);

/// Returns (maximum - minimum) / median, or 0 for no values.
double spread_of(std::vector<double> const& values);

struct throughput_job {
  kernel_launch launch;       // `iterations` is chosen here
  double work = 0;            // work of one block in one iteration
  std::uint64_t granule = 1;  // iterations are a multiple of this
  bool rests = false;         // pauses between launches that the power limit would slow down
  /// The expected result of each block after one granule; after n granules n times as much. Empty:
  /// all blocks must have the same result.
  std::vector<std::uint32_t> folds = {};
};

struct throughput_figures {
  peak_figure per_clock, burst;
  std::uint64_t iterations = 0;  // for a run of about a millisecond
};

/// Makes one launch. Throws no_figure if blocks disagree on the result. Rates are 0 if the launch
/// was too short.
launch_rates run_once(lab& in, throughput_job const& job, std::uint64_t iterations);

/// The first launches only determine how many iterations take a millisecond.
throughput_figures measure_throughput(lab& in, throughput_job const& job);

/// Makes launches of up to 10 ms, one directly after the other.
peak_figure sustain_throughput(lab& in, throughput_job const& job, std::uint64_t iterations_of_1_ms,
                               double seconds);

/// Returns the best rate seen. If power is no limit, a long run can be better than the short ones
/// by a tenth of a percent.
peak_figure best_burst(peak_figure const& burst, peak_figure const& sustained) noexcept;

}  // namespace gpuprof::guest::peaks
