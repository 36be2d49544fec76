// SPDX-License-Identifier: Apache-2.0
// How a GPU is to be measured: which tests, how thoroughly, on which operands.
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
  bool sustain_all = false;    // sustained figures also of tests whose speed power does not limit
  bool force = false;          // also while another process loads the GPU
  bool zeros = false;          // operands that are all zero: more than real data ever reaches
  /// Called before each test with its name, how many are done and how many there are; may be empty.
  std::function<void(std::string_view test, std::size_t done, std::size_t all)> on_progress;
};

}  // namespace gpuprof::guest::peaks
