// SPDX-License-Identifier: Apache-2.0
// Measures the peaks of one GPU with the built-in kernels.
#pragma once

#include "base/result.hpp"
#include "model/peaks.hpp"
#include "peaks/test_list.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::peaks {

struct measure_options {
  std::vector<test_id> tests;  // empty: all
  bool quick = false;          // fewer runs of each test, no sustained figures
  bool sustain_all =
      false;           // sustained figures of every test, not of those alone where power matters
  bool force = false;  // also while another process loads the GPU
  bool zeros = false;  // operands that are all zero: more than real data ever reaches
  /// Called before each test with its name, how many are done and how many there are; may be empty.
  std::function<void(std::string_view test, std::size_t done, std::size_t all)> on_progress;
};

/// What identifies the results of this GPU, without measuring. Opens no CUDA context.
result<peaks_key> key_of(int ordinal);

/// `ordinal` is CUDA's, under CUDA_VISIBLE_DEVICES. Takes up to three seconds; uses the device's
/// primary context and gives all back. Never changes clocks or limits. A test that fails is in the
/// results as failed; an error means there is nothing at all. Any thread, one at a time for a GPU.
result<gpu_peaks> measure(int ordinal, measure_options const& options);

}  // namespace gpuprof::peaks
