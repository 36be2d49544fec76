// SPDX-License-Identifier: Apache-2.0
// Lists the compute kernels: the test of each, how to launch it, and how to check its result.
#pragma once

#include "guest/peaks/checks/kernel_checks.hpp"
#include "guest/peaks/theory/test_list.hpp"

#include <span>
#include <string_view>
#include <variant>

namespace gpuprof::guest::peaks {

struct chain_check {
  chain_kind kind;
  unsigned steps;  // steps of each chain in one iteration
};

struct tensor_check {
  tensor_geometry geometry;
  unsigned repeats;  // repeats of the whole sum in one iteration
};

struct compute_kernel {
  test_id test;
  std::string_view image, name;
  std::string_view method;  // name of the instruction
  unsigned threads = 256;
  unsigned shared_bytes = 0;
  double work = 0;  // FLOP or op of one block per iteration
  std::variant<chain_check, tensor_check> check;
  /// Also measure the next kernel of this test and use the faster one, which depends on the chip.
  bool or_next = false;
};

/// Sorted by speed, best first. A chip runs the first kernel of a test that has code for it.
std::span<compute_kernel const> compute_kernels();

}  // namespace gpuprof::guest::peaks
