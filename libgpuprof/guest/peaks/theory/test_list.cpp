// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/theory/test_list.hpp"

#include "base/nearest_name.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::guest::peaks {
namespace {

constexpr std::array tests = {
    test_info{test_id::fp64, "fp64", "cuda_cores", "FP64 FMA", "FLOP/s"},
    test_info{test_id::fp32, "fp32", "cuda_cores", "FP32 FMA", "FLOP/s"},
    test_info{test_id::fp16, "fp16", "cuda_cores", "FP16x2 FMA", "FLOP/s"},
    test_info{test_id::bf16, "bf16", "cuda_cores", "BF16x2 FMA", "FLOP/s"},
    test_info{test_id::int32, "int32", "cuda_cores", "INT32 multiply-add", "op/s"},
    test_info{test_id::special, "special", "cuda_cores", "Special functions (ex2)", "op/s"},
    test_info{test_id::tensor_fp64, "tensor_fp64", "tensor_cores", "Tensor FP64", "FLOP/s"},
    test_info{test_id::tensor_tf32, "tensor_tf32", "tensor_cores", "Tensor TF32", "FLOP/s"},
    test_info{test_id::tensor_fp16, "tensor_fp16", "tensor_cores", "Tensor FP16, FP32 accumulate",
              "FLOP/s"},
    test_info{test_id::tensor_fp16_acc16, "tensor_fp16_acc16", "tensor_cores",
              "Tensor FP16, FP16 accumulate", "FLOP/s"},
    test_info{test_id::tensor_bf16, "tensor_bf16", "tensor_cores", "Tensor BF16", "FLOP/s"},
    test_info{test_id::tensor_fp8, "tensor_fp8", "tensor_cores", "Tensor FP8 (E4M3)", "FLOP/s"},
    test_info{test_id::tensor_int8, "tensor_int8", "tensor_cores", "Tensor INT8", "op/s"},
    test_info{test_id::tensor_fp6, "tensor_fp6", "tensor_cores", "Tensor FP6 (E3M2)", "FLOP/s"},
    test_info{test_id::tensor_fp4, "tensor_fp4", "tensor_cores", "Tensor FP4 (NVFP4)", "FLOP/s"},
    test_info{test_id::dram_read, "dram_read", "memory", "DRAM read", "B/s"},
    test_info{test_id::dram_write, "dram_write", "memory", "DRAM write", "B/s"},
    test_info{test_id::dram_copy, "dram_copy", "memory", "DRAM copy (1 read, 1 write)", "B/s"},
    test_info{test_id::dram_triad, "dram_triad", "memory", "DRAM triad (2 reads, 1 write)", "B/s"},
    test_info{test_id::l2_read, "l2_read", "memory", "L2 read", "B/s"},
    test_info{test_id::l2_write, "l2_write", "memory", "L2 write", "B/s"},
    test_info{test_id::shared_read, "shared_read", "memory", "Shared memory read", "B/s"},
    test_info{test_id::shared_write, "shared_write", "memory", "Shared memory write", "B/s"},
    test_info{test_id::l1_read, "l1_read", "memory", "L1 read", "B/s"},
    test_info{test_id::h2d, "h2d", "links", "Host to device, pinned", "B/s"},
    test_info{test_id::d2h, "d2h", "links", "Device to host, pinned", "B/s"},
    test_info{test_id::h2d_d2h, "h2d_d2h", "links", "Both at once, pinned", "B/s"},
    test_info{test_id::h2d_pageable, "h2d_pageable", "links", "Host to device, pageable", "B/s"},
    test_info{test_id::d2h_pageable, "d2h_pageable", "links", "Device to host, pageable", "B/s"},
    test_info{test_id::p2p, "p2p", "links", "Peer copy", "B/s"},
    test_info{test_id::launch_latency, "launch_latency", "latency",
              "Launch: from the call to the kernel's first write", "s"},
    test_info{test_id::launch_throughput, "launch_throughput", "latency",
              "Launch: one of many in a row", "s"},
    test_info{test_id::graph_node, "graph_node", "latency", "Graph: one kernel node of many", "s"},
    test_info{test_id::synchronize, "synchronize", "latency", "Launch and synchronize, round trip",
              "s"},
};

/// Returns groups in the order of the table, which keeps the tests of a group together.
std::vector<std::string> all_groups() {
  std::vector<std::string> groups;
  for (auto const& test : tests) {
    if (groups.empty() || groups.back() != test.group) groups.emplace_back(test.group);
  }
  return groups;
}

std::string listed(std::vector<std::string> const& names) {
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

error not_a_test(std::string_view word) {
  std::vector<std::string> names;
  for (auto const& test : tests) names.emplace_back(test.name);
  auto const groups = all_groups();
  auto text = word.empty() ? "no peak test is named"
                           : "there is no peak test \"" + std::string(word) + "\"";
  auto const known = "; tests: " + listed(names) + "; groups: " + listed(groups);
  names.insert(names.end(), groups.begin(), groups.end());
  auto const nearest = nearest_name(word, names);
  if (!nearest.empty()) text += " (did you mean " + nearest + "?)";
  return error{text + known};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::span<test_info const> all_tests() noexcept {
  return tests;
}

test_info const& info_of(test_id test) noexcept {
  return tests[static_cast<std::size_t>(test)];
}

std::vector<std::string> test_and_group_names() {
  std::vector<std::string> names;
  for (auto const& test : all_tests()) names.emplace_back(test.name);
  for (auto& group : all_groups()) names.push_back(std::move(group));
  return names;
}

result<std::vector<test_id>> select_tests(std::string_view names) {
  std::array<bool, tests.size()> wanted{};
  bool any = false;
  while (!names.empty()) {
    auto const word = trimmed(names.substr(0, names.find(',')));
    names.remove_prefix(std::min(names.find(','), names.size() - 1) + 1);
    if (word.empty()) continue;
    any = true;
    bool known = false;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      if (word != tests[i].name && word != tests[i].group) continue;
      known = wanted[i] = true;
    }
    if (!known) return not_a_test(word);
  }
  if (!any) return not_a_test("");
  std::vector<test_id> chosen;
  for (auto const& test : tests) {
    if (wanted[static_cast<std::size_t>(test.id)]) chosen.push_back(test.id);
  }
  return chosen;
}

}  // namespace gpuprof::guest::peaks
