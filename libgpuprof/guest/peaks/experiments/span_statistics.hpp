// SPDX-License-Identifier: Apache-2.0
// Turns what blocks wrote down of themselves into rates. Pure.
#pragma once

#include "guest/peaks/kernels/kernel_arguments.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof::guest::peaks {

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

}  // namespace gpuprof::guest::peaks
