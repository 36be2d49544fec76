// SPDX-License-Identifier: Apache-2.0
// The kernels that compute: which test each is for, how to launch it, what its result must be.
#pragma once

#include "guest/peaks/checks/kernel_checks.hpp"
#include "guest/peaks/theory/test_list.hpp"

#include <span>
#include <string_view>
#include <variant>

namespace gpuprof::guest::peaks {

struct chain_check {
  chain_kind kind;
  unsigned steps;  // of each chain in one iteration
};

struct tensor_check {
  tensor_geometry geometry;
  unsigned repeats;  // of the whole sum in one iteration
};

struct compute_kernel {
  test_id test;
  std::string_view image, name;
  std::string_view method;  // the instruction
  unsigned threads = 256;
  unsigned shared_bytes = 0;
  double work = 0;  // FLOP or op of one block in one iteration
  std::variant<chain_check, tensor_check> check;
  /// Measure the next of the same test too and keep the better: which is faster depends on the
  /// chip.
  bool or_next = false;
};

/// The best instructions first: a chip runs the first of a test that it has code for.
std::span<compute_kernel const> compute_kernels();

}  // namespace gpuprof::guest::peaks
