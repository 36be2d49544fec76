// SPDX-License-Identifier: Apache-2.0
// Figures of one kernel from raw counters, and names of products.
#include "host/advice/product_name.hpp"
#include "host/advice/rules/kernel/kernel_view.hpp"
#include "host/advice/wording.hpp"
#include "made_kernel.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

namespace {

derived_metrics derived(made_kernel const& made) {
  return derive(made.facts, 132);
}
made_kernel any() {
  return kernel_of("k", 1_ms);
}

}  // namespace

TEST_CASE("nothing is derived from counters that were not read") {
  auto const seen = derived(any());
  CHECK(!seen.issue_use);
  CHECK(!seen.longest_wait());
  CHECK(!seen.sector_use);
  CHECK(!seen.conflict_share);
  CHECK(!derive(any().issuing(0.5).facts, 0).issue_use);
}

TEST_CASE("issue use counts four schedulers on each SM") {
  CHECK(derived(any().issuing(0.25)).issue_use.value() == Approx(0.25));
}

TEST_CASE("stall shares count warps that wait, not those that issue or were not selected") {
  auto const seen = derived(any()
                                .issuing(0.5)
                                .counting("smsp__warps_active.sum", 0.5 * 4 * 132 * 100'000 + 150)
                                .counting("smsp__warps_issue_stalled_not_selected.sum", 50)
                                .counting("smsp__warps_issue_stalled_wait.sum", 25)
                                .counting("smsp__warps_issue_stalled_long_scoreboard.sum", 60));
  REQUIRE(seen.longest_wait());
  CHECK(seen.longest_wait()->reason == stall_reason::long_scoreboard);
  CHECK(seen.longest_wait()->share == Approx(0.6));
  CHECK(seen.stall_shares[static_cast<std::size_t>(stall_reason::wait)].value() == Approx(0.25));
}

TEST_CASE("idle SMs are the difference between the mean and the busiest SM") {
  auto const seen =
      derived(any().counting("sm__cycles_active.avg", 75).counting("sm__cycles_active.max", 100));
  CHECK(seen.idle_sms.value() == Approx(0.25));
}

TEST_CASE("sectors of a load count global and generic loads") {
  auto const made = any()
                        .counting("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 3200)
                        .counting("smsp__inst_executed_op_global_ld.sum", 60);
  CHECK(derived(made.counting("smsp__inst_executed_op_generic_ld.sum", 40))
            .sectors_per_load.value() == Approx(32));
}

TEST_CASE("sector use averages loads and stores by their sectors; unused directions do not count") {
  auto const ratio = std::string("smsp__sass_average_data_bytes_per_sector_mem_global_op_");
  auto const loads = any()
                         .counting(ratio + "ld.ratio", 8)
                         .counting("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 300)
                         .counting(ratio + "st.ratio", 0)
                         .counting("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 0);
  CHECK(derived(loads).sector_use.value() == Approx(0.25));
  auto const both = loads.counting(ratio + "st.ratio", 32)
                        .counting("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 100);
  CHECK(derived(both).sector_use.value() == Approx((0.25 * 300 + 100) / 400));
}

TEST_CASE("a two-way conflict repeats half of the accesses to shared memory") {
  auto const seen =
      derived(any()
                  .issuing(0.1, 1000)
                  .counting("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 66'000)
                  .counting("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 33'000));
  CHECK(seen.conflict_share.value() == Approx(0.5));
  CHECK(seen.shared_pipe_use.value() == Approx(0.5));
}

TEST_CASE("cache misses of L1 and L2 are counted in sectors") {
  auto const seen = derived(any()
                                .counting("l1tex__t_sectors.sum", 1000)
                                .counting("l1tex__t_sectors_lookup_hit.sum", 250)
                                .counting("lts__t_bytes.sum", 32'000)
                                .counting("lts__t_sectors_lookup_miss.sum", 100));
  CHECK(seen.l1_miss.value() == Approx(0.75));
  CHECK(seen.l2_miss.value() == Approx(0.1));
}

TEST_CASE("names of matrix products tell their cores and the alignment of their rows") {
  auto const odd = parse_product(
      "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1>(Params)");
  REQUIRE(odd);
  CHECK(odd->on_tensor_cores);
  CHECK(odd->aligned_bytes() == 2);
  auto const bytes = [](std::string_view name) { return parse_product(name)->aligned_bytes(); };
  CHECK(bytes("cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8") == 16);
  CHECK(bytes("cutlass_80_tensorop_s1688gemm_256x128_16x3_nt_align4") == 16);
  CHECK(bytes("cutlass_80_tensorop_s1688gemm_256x128_16x3_nt_align2") == 8);
  CHECK(bytes("cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16") == 16);
  CHECK(bytes("ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_tn") == 16);
  CHECK(
      bytes(
          "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x32_tensor16x8x16_aligna2_alignc8") ==
      4);
  CHECK(!bytes("cutlass_80_tensorop_d884gemm_64x64_16x4_nt_align1"));
  CHECK(!bytes("nvjet_sm90_tst_192x96_64x5_1x2_h_bz_NTT"));
}

TEST_CASE("names of matrix products tell if CUDA cores compute them") {
  for (auto const* const name :
       {"ampere_sgemm_128x64_tn", "cutlass_80_simt_sgemm_128x128_8x4_nt_align1",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_ffma_aligna4_alignc4"}) {
    CHECK(parse_product(name)->single_precision);
    CHECK(!parse_product(name)->on_tensor_cores);
  }
  CHECK(!parse_product("ampere_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn")->single_precision);
  CHECK(!parse_product("void at::native::convert_kernel<float>"));
  CHECK(!parse_product("void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>"));
  CHECK(parse_product("void conv2d_grouped_direct_kernel<float>"));
}

TEST_CASE("rates and extents are written with three digits and the unit that fits") {
  CHECK(as_rate(1.507e12, "B/s") == "1.51 TB/s");
  CHECK(as_text({256, 50, 1}) == "256 x 50");
}
