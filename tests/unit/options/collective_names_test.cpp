// SPDX-License-Identifier: Apache-2.0
// Kernels of collectives are told by two lists: one for users, one for many threads.
#include "guest/options/settings.hpp"
#include "model/kernel_name.hpp"
#include "model/kernel_patterns.hpp"
#include "support/catch.hpp"

#include <random>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

kernel_patterns by_option() {
  auto made = kernel_patterns::make(kernels_of_collectives());
  REQUIRE(made);
  return *std::move(made);
}

/// Pieces of the words, so that many names are nearly one.
std::vector<std::string> made_names() {
  std::vector<std::string> const pieces = {
      "nccl", "NVSHMEM",   "mscclpp", "deep", "_ep",     "cross_device", "_",      "reduce",
      "all",  "gather",    "scatter", "to",   "moea",    "2a",           "Reduce", "multimem",
      "symm", "symmetric", "mem",     "user", "buffers", "lamp",         "ort",    "All"};
  std::mt19937 random(1);
  std::vector<std::string> names;
  for (int i = 0; i < 20000; ++i) {
    std::string name;
    for (auto left = 1 + random() % 5; left > 0; --left) name += pieces[random() % pieces.size()];
    names.push_back(name);
  }
  return names;
}

}  // namespace

TEST_CASE("the names that the option skips equal those reported as collectives") {
  auto const patterns = by_option();
  unsigned matched = 0;
  for (auto const& name : made_names()) {
    auto const is_one = patterns.match(name);
    matched += is_one;
    if (is_named_as_collective(name) != is_one) FAIL(name);
  }
  CHECK(matched > 2000);
  CHECK(matched < 18000);
}

TEST_CASE("collectives are recognized by their mangled names") {
  auto const patterns = by_option();
  for (auto const* name :
       {"_Z35ncclDevKernel_AllReduce_Sum_f32_RINGP11ncclDevComm", "ncclKernel_AllGather",
        "_ZN4vllm22cross_device_reduce_1stageIfLi2EEEvPNS_8RankDataE",
        "_ZN12tensorrt_llm7kernels3mnn16lamportAllReduceEv"}) {
    CHECK(is_named_as_collective(name));
    CHECK(patterns.match(name));
  }
  for (auto const* name : {"_ZN2at6native13reduce_kernelILi512EEEvT_", "allo_creduce", "",
                           "_Z13gather_scatterPf", "ampere_sgemm_128x64_tn"}) {
    CHECK_FALSE(is_named_as_collective(name));
    CHECK_FALSE(patterns.match(name));
  }
}
