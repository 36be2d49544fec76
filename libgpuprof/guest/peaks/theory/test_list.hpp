// SPDX-License-Identifier: Apache-2.0
// The names of the peak tests, and the selection of tests by name.
#pragma once

#include "base/result.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest::peaks {

enum class test_id {
  fp64,
  fp32,
  fp16,
  bf16,
  int32,
  special,
  tensor_fp64,
  tensor_tf32,
  tensor_fp16,
  tensor_fp16_acc16,
  tensor_bf16,
  tensor_fp8,
  tensor_int8,
  tensor_fp6,
  tensor_fp4,
  dram_read,
  dram_write,
  dram_copy,
  dram_triad,
  l2_read,
  l2_write,
  shared_read,
  shared_write,
  l1_read,
  h2d,
  d2h,
  h2d_d2h,
  h2d_pageable,
  d2h_pageable,
  p2p,
  launch_latency,
  launch_throughput,
  graph_node,
  synchronize,
};

struct test_info {
  test_id id;
  std::string_view name;   // "tensor_bf16": used in JSON, in captures and for --only
  std::string_view group;  // "cuda_cores", "tensor_cores", "memory", "links", "latency"
  std::string_view title;  // "Tensor BF16, FP32 accumulate": used in the text table
  std::string_view unit;   // "FLOP/s", "op/s", "B/s", "s"
};

/// Returns the tests in the order of test_id, which is also the order of reports.
std::span<test_info const> all_tests() noexcept;
test_info const& info_of(test_id test) noexcept;

/// Returns the names that select_tests() accepts: all tests, then all groups.
std::vector<std::string> test_and_group_names();

/// Parses names and groups, separated by commas. Returns each test once, in the order of
/// all_tests(). For an unknown name, the error lists the known names and the nearest one.
result<std::vector<test_id>> select_tests(std::string_view names);

}  // namespace gpuprof::guest::peaks
