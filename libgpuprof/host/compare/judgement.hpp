// SPDX-License-Identifier: Apache-2.0
// Whether a line is better or worse beyond noise.
#pragma once

#include "host/compare/difference.hpp"

namespace gpuprof::compare {

/// Smaller differences are never called better or worse: nobody mends them.
inline constexpr double least_difference = 0.005;
/// What one run a side cannot tell from the difference of two runs of one program. Of kernels whose
/// clock is known well, and of kernels beside others of the same run; of all else that GPUs do.
inline constexpr double kernel_floor = 0.02, run_floor = 0.07;
/// Likewise of time in which the CPU works, a factor of 1.65: in 18 runs of one loop of launches on
/// a virtual machine it had a standard deviation of 14 % (and their kernels of 0.02 %), so that one
/// pair in a hundred differs by more.
inline constexpr double host_floor = 0.5;
/// Likewise of a share of the window: two points.
inline constexpr double share_floor = 0.02;
/// Of a figure that is sure to a factor of two alone nothing is said but a change beyond that.
inline constexpr double greatest_noise = 0.7;

struct judgement {
  verdict is = verdict::not_tested;
  interval left, besides;
  bool is_by_besides = false;
};

/// Both tests together err with the probability `alpha`. A kernel that stands out from the others,
/// which became faster, while it did not become slower itself, is not called worse: they may depend
/// on the clock, and it may not.
judgement judge(tests const& of, double alpha);

}  // namespace gpuprof::compare
