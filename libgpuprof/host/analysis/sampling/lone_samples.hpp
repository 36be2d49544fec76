// SPDX-License-Identifier: Apache-2.0
// Attributes samples in which launches of one kind ran and nothing else, whole launches or not.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

namespace gpuprof {

/// Fills in figures that nothing else tells, and those that are twice as sure so: short kernels
/// that the program waits for, and long ones of which windows hold parts.
void attribute_lone_samples(sample_series const& samples, device_work const& work,
                            figure_grid& figures);

}  // namespace gpuprof
