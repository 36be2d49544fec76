// SPDX-License-Identifier: Apache-2.0
// Measures the peaks of one GPU with the built-in kernels.
#pragma once

#include "base/result.hpp"
#include "guest/peaks/experiments/measure_options.hpp"
#include "model/peaks.hpp"

namespace gpuprof::guest::peaks {

/// What identifies the results of this GPU, without measuring. Opens no CUDA context.
result<peaks_key> key_of(int ordinal);

/// `ordinal` is CUDA's, under CUDA_VISIBLE_DEVICES. Takes up to three seconds; uses the device's
/// primary context and gives all back. Never changes clocks or limits. A test that fails is in the
/// results as failed; an error means there is nothing at all. Any thread, one at a time for a GPU.
result<gpu_peaks> measure(int ordinal, measure_options const& options);

}  // namespace gpuprof::guest::peaks
