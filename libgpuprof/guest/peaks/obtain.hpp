// SPDX-License-Identifier: Apache-2.0
// Gets the requested peaks: from the store if it has them, else by measuring.
#pragma once

#include "base/result.hpp"
#include "guest/peaks/experiments/measure_options.hpp"
#include "model/peaks.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::guest::peaks {

struct obtain_options {
  measure_options what;  // `tests` must not be empty
  bool refresh = false;  // measure even if stored peaks answer the request
  std::string folder;    // folder of the store
};

/// The two functions that access a GPU. Tests replace them.
struct gpu_access {
  std::function<result<peaks_key>(int)> key_of;
  std::function<result<gpu_peaks>(int, measure_options const&)> measure;
};

struct obtained {
  gpu_peaks peaks;         // results of the requested tests
  bool is_stored = false;  // they come from the store
  std::string origin;      // one line: when they were measured and where they are stored
  std::string trouble;     // one line: why they could not be stored; empty if there was no problem
};

/// Peaks measured with force or on zero operands do not show what the GPU reaches. They are not
/// stored, and requests for zeros are not answered from the store.
result<obtained> obtain(gpu_access const& gpus, int device, obtain_options const& asked);

/// True if every test was measured at least this thoroughly, or cannot be measured.
bool answers(gpu_peaks const& stored, measure_options const& asked);

/// Removes the results of all other tests.
void keep_only(gpu_peaks& peaks, std::vector<test_id> const& tests);

std::vector<test_id> every_test();

/// Returns how many GPUs CUDA shows to this process, or an error if there is none or no driver.
/// Calls cuInit.
result<int> count_gpus();

}  // namespace gpuprof::guest::peaks
