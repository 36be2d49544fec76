// SPDX-License-Identifier: Apache-2.0
// Gets the peaks somebody asked for: stored ones where they answer, else by measuring.
#pragma once

#include "base/result.hpp"
#include "guest/peaks/experiments/measure_options.hpp"
#include "model/peaks.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::guest::peaks {

struct obtain_options {
  measure_options what;  // tests: never empty
  bool refresh = false;  // measure even when stored peaks answer
  std::string folder;    // of the store
};

/// The two questions put to a GPU; whoever asks may give answers of his own.
struct gpu_access {
  std::function<result<peaks_key>(int)> key_of;
  std::function<result<gpu_peaks>(int, measure_options const&)> measure;
};

struct obtained {
  gpu_peaks peaks;         // of the tests that were asked for
  bool is_stored = false;  // they were in the store already
  std::string origin;      // one line: measured when, stored where
  std::string trouble;     // one line: why they could not be stored; empty: nothing went wrong
};

/// What was measured with force or on operands that are all zero does not tell what the GPU
/// reaches: it is not stored, and zeros are not answered from the store either.
result<obtained> obtain(gpu_access const& gpus, int device, obtain_options const& asked);

/// Whether every test was measured at least this thoroughly, or cannot be.
bool answers(gpu_peaks const& stored, measure_options const& asked);

/// Leaves the results of these tests.
void keep_only(gpu_peaks& peaks, std::vector<test_id> const& tests);

std::vector<test_id> every_test();

/// How many GPUs CUDA shows to this process; an error when there is none or no driver. Calls
/// cuInit.
result<int> count_gpus();

}  // namespace gpuprof::guest::peaks
