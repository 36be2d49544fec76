// SPDX-License-Identifier: Apache-2.0
// Whether the GPU worked while nothing of the capture ran: other programs were there, or filters
// left work out.
#pragma once

#include "host/analysis/sampling/device_work.hpp"

#include <optional>

namespace gpuprof {

/// Share of the cycles in which SMs had work, in samples in which nothing ran, nor in those beside
/// them. nullopt: too few of these, or their cycles were not sampled.
std::optional<double> unseen_activity(sample_series const& samples, device_work const& work);

}  // namespace gpuprof
