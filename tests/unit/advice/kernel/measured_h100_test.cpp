// SPDX-License-Identifier: Apache-2.0
// Kernels as they were measured on an H100 (gpu-check, planted faults): what the mend won there
// lies in the interval that the rule gives.
#include "made_kernel.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

namespace {

constexpr double ms = 1e6;

std::optional<double> h100_peak(std::string_view test) {
  std::pair<std::string_view, double> const peaks[] = {{"dram_read", 3.2096e12},
                                                       {"fp32", 66.4e12},
                                                       {"tensor_tf32", 483e12},
                                                       {"tensor_bf16", 943e12}};
  for (auto const& [name, value] : peaks)
    if (name == test) return value;
  return std::nullopt;
}

run_facts on_h100(std::vector<made_kernel> const& kernels, double window) {
  auto run = run_of(kernels);
  run.window_ns = window;
  run.devices.front().peak = h100_peak;
  auto& ledger = run.devices.front().ledger;
  ledger[time_bucket::cpu_work] = window - ledger[time_bucket::compute];
  return run;
}

/// Nothing was read around launches.
run_facts sampled_alone(run_facts run) {
  run.there = run.there.without(data::explain);
  return run;
}

finding first_of(run_facts const& run) {
  auto const given = give_advice(run, {});
  REQUIRE(!given.findings.empty());
  INFO(given.findings.front().arithmetic);
  return given.findings.front();
}

bool holds(finding const& one, double won) {
  return one.gain.low_ns <= won && won <= one.gain.high_ns;
}

made_kernel measured_sgemm() {
  return kernel_of("cutlass_80_simt_sgemm_256x128_8x4_nn_align1", 581_ms)
      .launched(1503)
      .shaped({128, 1, 1}, {256, 1, 1})
      .with_tensor_cores_active(0)
      .with([](auto& f) { f.figures.dram_rate = 106e9; });
}
made_kernel good_product(duration_ns total, double rate) {
  return kernel_of("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", total)
      .launched(4509)
      .shaped({132, 1, 1}, {384, 1, 1})
      .at_l2(0.964)
      .at_peak_of(precision::tensor_bf16, 0.919)
      .computing(precision::tensor_bf16, rate)
      .with_tensor_cores_active(0.956);
}
made_kernel measured_odd_product() {
  return kernel_of("cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1", 1354_ms)
      .launched(12024)
      .shaped({128, 1, 1}, {256, 1, 1})
      .at_l2(0.275)
      .at_peak_of(precision::tensor_bf16, 0.164)
      .computing(precision::tensor_bf16, 152.6e12)
      .with_tensor_cores_active(0.349);
}
made_kernel chasing(std::uint32_t shared) {
  return kernel_of("chase_rows", 613_ms)
      .launched(1503)
      .shaped({264, 1, 1}, {256, 1, 1})
      .using_registers(20)
      .using_shared_memory(shared)
      .at_dram(0.0176)
      .at_l2(0.0573);
}

}  // namespace

TEST_CASE("an FP32 product whose FLOP are unknown: TF32 saved 430.9 of 581 ms") {
  auto const first =
      first_of(sampled_alone(on_h100({measured_sgemm(), good_product(818_ms, 765e12)}, 2.322e9)));
  CHECK(first.rule == "fp32_products");
  CHECK(holds(first, 430.9 * ms));
  CHECK(first.gain.high_ns == Approx(581 * ms * (1 - 66.4 / 483)));
}

TEST_CASE("an FP32 product whose FLOP samples tell: TF32 saved 430.9 of 581 ms") {
  auto const counted =
      measured_sgemm().at_peak_of(precision::fp32, 0.67).computing(precision::fp32, 44.4e12);
  auto const first = first_of(on_h100({counted, good_product(818_ms, 765e12)}, 2.322e9));
  CHECK(first.rule == "fp32_products");
  CHECK(holds(first, 430.9 * ms));
}

TEST_CASE(
    "products of 2047: padding saved 956.2 of 1354 ms, more than reaching 0.8 of the roof would") {
  auto const first =
      first_of(on_h100({measured_odd_product(), good_product(778_ms, 806e12)}, 3.044e9));
  CHECK(first.rule == "misaligned_products");
  CHECK(holds(first, 956.2 * ms));
  CHECK(first.gain.high_ns == Approx(1354 * ms * (1 - 152.6 / 806)));
  CHECK(first.gain.low_ns == Approx(1354 * ms * (1 - 0.275 / 0.8) / 2));
}

TEST_CASE("130 KiB of shared memory a block, known only from samples: two blocks saved 291.8 ms") {
  auto const first = first_of(sampled_alone(on_h100({chasing(130 << 10)}, 1.756e9)));
  CHECK(first.rule == "low_occupancy");
  CHECK(first.gain.low_ns == 0);
  CHECK(holds(first, 291.8 * ms));
}

TEST_CASE("130 KiB of shared memory a block, with stall reasons: the low gain is above 0") {
  auto const waits = chasing(130 << 10).issuing(0.05).stalled("long_scoreboard", 0.9);
  auto const first = first_of(on_h100({waits}, 1.756e9));
  CHECK(first.rule == "low_occupancy");
  CHECK(first.gain.low_ns == Approx(613 * ms / 4));
  CHECK(holds(first, 291.8 * ms));
}

TEST_CASE("two blocks of 100 KiB already fit: more room for blocks is no finding") {
  auto const mended = chasing(100 << 10).at_l2(0.107);
  CHECK(!found_by("low_occupancy", sampled_alone(on_h100({mended}, 1.447e9))));
}

TEST_CASE("products and attention have few warps by design, unless counters show that these wait") {
  auto const product = kernel_of("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", 600_ms)
                           .shaped({500, 1, 1}, {384, 1, 1})
                           .using_registers(168)
                           .using_shared_memory(200 << 10)
                           .at_dram(0.3)
                           .with_tensor_cores_active(0.1);
  auto const attention = product.with([](auto& f) { f.name = "flash_fwd_kernel"; });
  auto const plain = product.with([](auto& f) { f.name = "scan"; });
  CHECK(!found_by("low_occupancy", sampled_alone(on_h100({product}, 1e9))));
  CHECK(!found_by("low_occupancy", sampled_alone(on_h100({attention}, 1e9))));
  CHECK(found_by("low_occupancy", sampled_alone(on_h100({plain}, 1e9))));
  CHECK(found_by("low_occupancy",
                 on_h100({product.issuing(0.05).stalled("long_scoreboard", 0.9)}, 1e9)));
}

TEST_CASE("one block too many in a kernel with known FLOP: a whole wave saved 232 of 464 ms") {
  auto const first = first_of(on_h100({kernel_of("whole_sm_fma", 464_ms)
                                           .launched(1503)
                                           .shaped({133, 1, 1}, {1024, 1, 1})
                                           .using_registers(64)
                                           .at_peak_of(precision::fp32, 0.4935)
                                           .computing(precision::fp32, 32.8e12)},
                                      1.923e9));
  CHECK(first.rule == "tail");
  CHECK(holds(first, 232 * ms));
}

// What these two count is by their code, for nothing was read around their launches there.
TEST_CASE(
    "one float of each 32 bytes at 0.96 of the DRAM roof: a dense array saved 430.6 of 524 ms") {
  auto const first = first_of(
      on_h100({kernel_of("sum_masses", 523'546_us)
                   .launched(1503)
                   .shaped({1056, 1, 1}, {256, 1, 1})
                   .at_dram(0.962)
                   .counting("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 4)},
              1.663e9));
  CHECK(first.rule == "uncoalesced");
  CHECK(holds(first, 430.6 * ms));
}

TEST_CASE("four lanes in a bank: reading neighbors saved 449.4 of 602.5 ms") {
  auto const cycles = 793'000.0, loads = cycles * 132 * 0.98;
  auto const first = first_of(on_h100(
      {kernel_of("read_shared", 602'477_us)
           .launched(1503)
           .shaped({1056, 1, 1}, {256, 1, 1})
           .at_l2(0.001)
           .issuing(0.12, cycles)
           .counting("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", loads)
           .counting("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", loads * 0.75)},
      2.045e9));
  CHECK(first.rule == "bank_conflicts");
  CHECK(holds(first, 449.4 * ms));
}
