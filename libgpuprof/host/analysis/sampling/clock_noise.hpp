// SPDX-License-Identifier: Apache-2.0
// Says from gaps between launches how far the ends of their records are off.
#pragma once

#include "host/analysis/sampling/device_work.hpp"

namespace gpuprof {

/// One deviation of an end, in ns. Where the same two kinds of launches follow each other at once
/// again and again, as in CUDA graphs, the gap between them varies by what two ends are off, if not
/// more. Without such pairs, or where they vary more, it is that of anything up to 100 ns.
double clock_noise_of(device_work const& work);

}  // namespace gpuprof
