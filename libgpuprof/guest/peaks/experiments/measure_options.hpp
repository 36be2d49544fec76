// SPDX-License-Identifier: Apache-2.0
// Options for measuring a GPU: which tests, how thoroughly, with which operands.
#pragma once

#include "guest/peaks/theory/test_list.hpp"

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace gpuprof::guest::peaks {

struct measure_options {
  std::vector<test_id> tests;  // empty: all
  bool quick = false;          // fewer runs of each test, no sustained figures
  bool sustain_all = false;    // sustained figures also for tests that power does not limit
  bool force = false;          // measure even if another process uses the GPU
  bool zeros = false;          // operands are zero; gives higher rates than real data can reach
  /// Called before each test with its name, the number of tests done and the number of all tests.
  /// May be empty.
  std::function<void(std::string_view test, std::size_t done, std::size_t all)> on_progress;
};

}  // namespace gpuprof::guest::peaks
