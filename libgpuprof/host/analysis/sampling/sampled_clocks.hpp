// SPDX-License-Identifier: Apache-2.0
// What clocks said while each kind of work ran.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

namespace gpuprof {

/// Clocks run whatever works, so none of what they count is due to the work: their mean over the
/// time that it ran.
void average_clocks(sample_series const& samples, device_work const& work, figure_grid& figures);

}  // namespace gpuprof
