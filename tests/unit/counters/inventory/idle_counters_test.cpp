// SPDX-License-Identifier: Apache-2.0
// Which counters a kernel cannot move.
#include "guest/metrics/inventory/idle_counters.hpp"

#include "support/catch.hpp"

#include <string>

using namespace gpuprof;
using namespace gpuprof::guest;
using enum instruction_class;

namespace {

std::string tensor(std::string const& type) {
  return "sm__ops_path_tensor_src_" + type + ".sum";
}
std::string patched(std::string const& operation) {
  return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}
kernel_code code_with(instruction_set holds) {
  return {90, holds, true};
}

}  // namespace

TEST_CASE("operations of types that a kernel lacks need not be counted") {
  auto const code = code_with(wgmma_bf16 | fp32);
  CHECK_FALSE(leaves_idle(code, tensor("bf16_dst_fp32")));
  CHECK_FALSE(leaves_idle(code, tensor("fp16_bf16_tf32_dst_fp32")));
  for (auto const* const type : {"fp16", "fp16_dst_fp32", "tf32_dst_fp32", "fp64", "int8", "fp8",
                                 "fp4_fp6_fp8_dst_fp16", "fp4_dst_fp32"}) {
    INFO(type);
    CHECK(leaves_idle(code, tensor(type)));
  }
  CHECK_FALSE(leaves_idle(code, patched("ffma")));
  CHECK_FALSE(leaves_idle(code, patched("fadd2")));
  CHECK(leaves_idle(code, patched("dfma")));
  CHECK(leaves_idle(code, patched("hadd")));
}

TEST_CASE("code with an ambiguous type may use any of the possible types") {
  auto const code = code_with(tcgen05_fp16_bf16_tf32);
  CHECK_FALSE(leaves_idle(code, tensor("fp16_dst_fp32")));
  CHECK_FALSE(leaves_idle(code, tensor("tf32_dst_fp32")));
  CHECK(leaves_idle(code, tensor("int8")));
}

TEST_CASE("other counters are never treated as idle") {
  for (auto const* const metric : {"dram__bytes_read.sum", "sm__pipe_tensor_cycles_active.avg",
                                   "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
                                   "sm__ops_path_tensor_src_something_new.sum", ""}) {
    INFO(metric);
    CHECK_FALSE(leaves_idle(code_with({}), metric));
  }
}

TEST_CASE("incomplete code may move any counter") {
  CHECK_FALSE(leaves_idle({90, wgmma_bf16, false}, tensor("int8")));
}
