// SPDX-License-Identifier: Apache-2.0
// Gives samples to launches that had the GPU to themselves and lasted several of them.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

namespace gpuprof {

/// Launches that last at least so many intervals hold at least one of them wholly.
inline constexpr double intervals_of_long_launch = 2;

/// Counts of launches that lie in samples without a gap while nothing else runs. A sample at the
/// edge belongs to the launch, unless other work ran in it too.
void attribute_by_overlap(sample_series const& samples, device_work const& work,
                          figure_grid& figures);

}  // namespace gpuprof
