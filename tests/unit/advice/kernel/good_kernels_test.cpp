// SPDX-License-Identifier: Apache-2.0
// Kernels that are as good as kernels get: nothing is to be said of them above 2 %.
#include "made_kernel.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

namespace {

/// The highest gain of the window that any rule sees.
double highest_gain(made_kernel const& made) {
  auto const run = run_of({made});
  double highest = 0;
  auto const given = give_advice(run, {});
  for (auto const* const findings : {&given.findings, &given.too_small})
    for (auto const& one : *findings) {
      INFO(one.rule << ": " << one.what);
      CHECK(one.gain.high_ns <= 0.02 * run.window_ns);
      highest = std::max(highest, one.gain.high_ns);
    }
  return highest / run.window_ns;
}

}  // namespace

TEST_CASE(
    "a tuned product: 0.85 of its roof, 14 % occupancy, warps that wait by design, 10 % of the "
    "clock") {
  CHECK(highest_gain(kernel_of("nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT", 950_ms)
                         .shaped({132, 1, 1}, {384, 1, 1})
                         .using_registers(168)
                         .using_shared_memory(220 << 10)
                         .at_peak_of(precision::tensor_bf16, 0.85)
                         .at_l2(0.78)
                         .at_dram(0.22)
                         .computing(precision::tensor_bf16, 680e12)
                         .with_tensor_cores_active(0.85)
                         .clocked(0.1)
                         .issuing(0.2)
                         .stalled("gmma", 0.5)
                         .counting("sm__cycles_active.avg", 97'000)) <= 0.02);
}

TEST_CASE("a tuned product with many tiles but no full last wave") {
  CHECK(highest_gain(kernel_of("cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_tn_align8", 950_ms)
                         .shaped({300, 1, 1}, {256, 1, 1})
                         .using_registers(230)
                         .using_shared_memory(140 << 10)
                         .at_peak_of(precision::tensor_bf16, 0.81)
                         .computing(precision::tensor_bf16, 650e12)
                         .with_tensor_cores_active(0.8)
                         .issuing(0.3)
                         .stalled("long_scoreboard", 0.4)) <= 0.02);
}

TEST_CASE("flash attention at half of the tensor roof") {
  CHECK(highest_gain(kernel_of("flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>", 950_ms)
                         .shaped({16, 8, 16}, {128, 1, 1})
                         .using_registers(255)
                         .using_shared_memory(80 << 10)
                         .at_peak_of(precision::tensor_bf16, 0.45)
                         .at_l2(0.2)
                         .at_dram(0.05)
                         .computing(precision::tensor_bf16, 360e12)
                         .with_tensor_cores_active(0.5)
                         .issuing(0.3)
                         .stalled("wait", 0.5)
                         .counting("sm__cycles_active.avg", 96'000)) <= 0.02);
}

TEST_CASE("a copy at the roof of DRAM that uses all of its bytes and misses every cache") {
  CHECK(highest_gain(
            kernel_of("copy", 950_ms)
                .at_dram(0.92)
                .at_l2(0.6)
                .clocked(0.01)
                .issuing(0.1)
                .stalled("long_scoreboard", 0.95)
                .counting("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 32)
                .counting("l1tex__t_sectors.sum", 1000)
                .counting("l1tex__t_sectors_lookup_hit.sum", 0)
                .counting("lts__t_bytes.sum", 32'000)
                .counting("lts__t_sectors_lookup_miss.sum", 1000)) <= 0.02);
}
