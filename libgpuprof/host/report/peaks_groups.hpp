// SPDX-License-Identifier: Apache-2.0
// The tests of one or several GPUs by group, each once.
#pragma once

#include "model/peaks.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof::report {

/// A test on each of the GPUs; nullptr where it was not asked for.
struct compared_test {
  std::vector<peak_result const*> on_each;
  peak_result const& any() const;
};

struct peak_group {
  std::string title;  // "Tensor cores, TFLOP/s"
  std::vector<compared_test> tests;
};

/// Groups and their tests in the order in which they are first met. Borrows `gpus`.
std::vector<peak_group> groups_of(std::span<gpu_peaks const> gpus);

}  // namespace gpuprof::report
