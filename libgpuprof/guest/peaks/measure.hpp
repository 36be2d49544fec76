// SPDX-License-Identifier: Apache-2.0
// Measures the peaks of one GPU with the built-in kernels.
#pragma once

#include "base/result.hpp"
#include "guest/peaks/experiments/measure_options.hpp"
#include "model/peaks.hpp"

namespace gpuprof::guest::peaks {

/// Returns the key of this GPU's results, without measuring. Opens no CUDA context.
result<peaks_key> key_of(int ordinal);

/// `ordinal` is CUDA's, as seen with CUDA_VISIBLE_DEVICES. Takes up to three seconds. Uses the
/// device's primary context and releases everything. Never changes clocks or limits. A test that
/// fails is marked as failed in the results; an error means that nothing was measured. Can be
/// called on any thread, but only one at a time for a GPU.
result<gpu_peaks> measure(int ordinal, measure_options const& options);

}  // namespace gpuprof::guest::peaks
