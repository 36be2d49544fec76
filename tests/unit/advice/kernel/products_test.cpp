// SPDX-License-Identifier: Apache-2.0
// Rules on products: alignment, tensor cores, precision, padding, batch.
#include "made_kernel.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

namespace {

auto const odd_gemm = "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1";

made_kernel odd_product() {
  return kernel_of(odd_gemm, 400_ms)
      .at_peak_of(precision::tensor_bf16, 0.2)
      .computing(precision::tensor_bf16, 100e12)
      .with_tensor_cores_active(0.2);
}
made_kernel aligned_product() {
  return kernel_of("nvjet_sm90_tst_192x96_64x5_1x2_h_bz_NTT", 100_ms)
      .at_peak_of(precision::tensor_bf16, 0.8)
      .computing(precision::tensor_bf16, 500e12)
      .with_tensor_cores_active(0.8);
}
made_kernel sgemm() {
  return kernel_of("ampere_sgemm_128x64_tn", 400_ms);
}

}  // namespace

TEST_CASE(
    "a product with odd rows is reported first and can save the time beyond 0.8 of its roof") {
  auto const given = give_advice(run_of({odd_product()}), {});
  REQUIRE(!given.findings.empty());
  auto const& first = given.findings.front();
  CHECK(first.rule == "misaligned_products");
  CHECK(first.gain.high_ns == Approx(400e6 * (1 - 0.2 / 0.8)));
  CHECK(first.gain.low_ns == Approx(400e6 * (1 - 0.2 / 0.8) / 2));
  CHECK(first.kernel == odd_gemm);
}

TEST_CASE("the high gain of alignment comes from the best aligned product of the run") {
  auto const found = found_by("misaligned_products", run_of({odd_product(), aligned_product()}));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 100. / 500)));
  CHECK(found->gain.low_ns == Approx(400e6 * (1 - 0.2 / 0.8) / 2));
}

TEST_CASE("the best aligned product of the run bounds the low gain of alignment") {
  auto const sibling = aligned_product().with(
      [](auto& f) { f.figures.flops[static_cast<std::size_t>(precision::tensor_bf16)] = 125e12; });
  auto const found = found_by("misaligned_products", run_of({odd_product(), sibling}));
  REQUIRE(found);
  CHECK(found->gain.low_ns == Approx(400e6 * (1 - 100. / 125) / 2));
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 0.2 / 0.8)));
}

TEST_CASE("without counters alignment is judged by the name, with a wider gain") {
  auto run = run_of({kernel_of(odd_gemm, 400_ms)});
  run.there = data::kernels;
  auto const found = found_by("misaligned_products", run);
  REQUIRE(found);
  CHECK(found->gain.low_ns == 0);
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 2. / 16)));
}

TEST_CASE("alignment is no finding for aligned products or if they are bound by DRAM") {
  CHECK(!found_by("misaligned_products", aligned_product()));
  CHECK(!found_by("misaligned_products",
                  kernel_of("cutlass_80_tensorop_bf16_s16816gemm_bf16_tn_align8", 400_ms)));
  CHECK(found_by("misaligned_products", odd_product().at_dram(0.69)));
  CHECK(!found_by("misaligned_products", odd_product().at_dram(0.7)));
}

TEST_CASE("variants of one misaligned product are one finding") {
  auto const nn = odd_product().with(
      [](auto& f) { f.name = "cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1"; });
  auto const found = found_by("misaligned_products", run_of({odd_product(), nn}));
  REQUIRE(found);
  CHECK(found->kernels == 2);
  CHECK(found->gain.high_ns == Approx(2 * 400e6 * 0.75));
}

TEST_CASE("an FP32 product saves the time beyond TF32 at 0.8 of its peak") {
  auto const found = found_by(
      "fp32_products", sgemm().at_peak_of(precision::fp32, 0.8).computing(precision::fp32, 48e12));
  REQUIRE(found);
  CHECK(found->changes_results);
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 48e12 / (0.8 * 400e12))));
}

TEST_CASE("an FP32 product saves no more than its bytes allow") {
  auto const found = found_by("fp32_products", sgemm()
                                                   .at_peak_of(precision::fp32, 0.8)
                                                   .computing(precision::fp32, 48e12)
                                                   .with_dram_rate(2e12, 24));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 0.5)));
}

TEST_CASE(
    "without counters an FP32 product is found by its name, and peaks give the gain of TF32") {
  auto run = run_of({sgemm()});
  run.there = data::kernels;
  auto const by_peaks = found_by("fp32_products", run);
  REQUIRE(by_peaks);
  CHECK(by_peaks->gain.high_ns == Approx(400e6 * (1 - 60. / 400)));
  CHECK(by_peaks->gain.low_ns == Approx(200e6 * (1 - 60. / 400)));
  run.devices.front().peak = [](std::string_view) { return std::optional<double>(); };
  auto const found = found_by("fp32_products", run);
  REQUIRE(found);
  CHECK(found->gain.low_ns == 0);
  CHECK(found->gain.high_ns == Approx(400e6 * 7 / 8));
  run.devices.front().record.compute_major = 7;
  CHECK(!found_by("fp32_products", run));
}

TEST_CASE("an FP32 product is no finding if TF32 is no faster than FP32") {
  auto run = run_of({sgemm()});
  run.devices.front().peak = [](std::string_view test) {
    return test == "fp32" || test == "tensor_tf32" ? std::optional(80e12) : std::nullopt;
  };
  CHECK(!found_by("fp32_products", run));
}

TEST_CASE("a product with an unclear name counts as FP32 from 0.3 of the FP32 roof") {
  auto const made = [](double share) {
    return kernel_of("my_gemm", 400_ms)
        .at_peak_of(precision::fp32, share)
        .computing(precision::fp32, share * 60e12);
  };
  CHECK(found_by("fp32_products", made(0.3)));
  CHECK(!found_by("fp32_products", made(0.29)));
  CHECK(!found_by("fp32_products", made(0.3).with([](auto& f) { f.name = "stencil"; })));
}

TEST_CASE("an FP16 product on CUDA cores leaves tensor cores idle") {
  auto const hgemm = kernel_of("cutlass_80_simt_hgemm_128x128_nn_align1", 400_ms)
                         .at_peak_of(precision::fp16, 0.7)
                         .computing(precision::fp16, 80e12)
                         .with_tensor_cores_active(0);
  auto const found = found_by("tensor_idle", hgemm);
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 80e12 / (0.8 * 800e12))));
  CHECK(!found_by("tensor_idle", hgemm.with_tensor_cores_active(0.3)));
}

TEST_CASE("FP64 products should use tensor cores if these are faster") {
  auto const dgemm = kernel_of("my_dgemm", 400_ms)
                         .at_peak_of(precision::fp64, 0.7)
                         .computing(precision::fp64, 20e12);
  CHECK(found_by("tensor_idle", dgemm));
  auto run = run_of({dgemm});
  run.devices.front().peak = [](std::string_view test) -> std::optional<double> {
    return test == "fp64" || test == "tensor_fp64" ? std::optional(30e12) : std::nullopt;
  };
  CHECK(!found_by("tensor_idle", run));
}

TEST_CASE("FP64 is a finding only if the GPU is slow at it") {
  auto const mixed = kernel_of("k", 400_ms)
                         .at_peak_of(precision::fp64, 0.5)
                         .computing(precision::fp64, 0.5e12)
                         .computing(precision::fp32, 1e12);
  CHECK(!found_by("fp64_unwanted", mixed));
  auto run = run_of({mixed});
  run.devices.front().peak = [](std::string_view test) -> std::optional<double> {
    return test == "fp64"   ? std::optional(1e12)
           : test == "fp32" ? std::optional(64e12)
                            : std::nullopt;
  };
  auto const found = found_by("fp64_unwanted", run);
  REQUIRE(found);
  CHECK(found->changes_results);
  auto const of_time = 0.5 / (0.5 + 1. / 64);
  CHECK(found->gain.high_ns == Approx(400e6 * of_time * (1 - 1. / 64)));
  run.kernels.front().figures.flops[static_cast<std::size_t>(precision::fp64)] = 0.15e12;
  run.kernels.front().figures.total_flops = 1.15e12;
  CHECK(!found_by("fp64_unwanted", run));
}

TEST_CASE("padding is the counted FLOP beyond the declared FLOP") {
  auto const made = [](double declared) {
    // 100 launches of 4 ms at 100 TFLOP/s: 4e11 FLOP each.
    return odd_product().with([&](auto& f) {
      f.name = "nvjet_h";
      f.declared_flop = declared;
      f.figures.source = flop_source::counted;
    });
  };
  auto const found = found_by("padded_work", made(3e11));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(100e6));
  CHECK(!found_by("padded_work", made(4e11 / 1.04)));
  auto const from_cycles =
      made(3e11).with([](auto& f) { f.figures.source = flop_source::tensor_cycles; });
  CHECK(!found_by("padded_work", from_cycles));
}

TEST_CASE("a small batch is reported with sizes and without a gain in time") {
  auto const made = [](double intensity, duration_ns time) {
    return kernel_of("nvjet_h", time)
        .at_dram(0.75)
        .at_peak_of(precision::tensor_bf16, 0.1)
        .computing(precision::tensor_bf16, 80e12)
        .with_dram_rate(3e12, intensity);
  };
  auto const found = found_by("small_batch", made(20, 300_ms));
  REQUIRE(found);
  CHECK(found->level == severity::info);
  CHECK(found->gain.high_ns == 0);
  CHECK(found->to_do.find("10.0 times") == std::string::npos);
  CHECK(found->to_do.find("10 times") != std::string::npos);
  CHECK(!found_by("small_batch", made(51, 300_ms)));
  CHECK(!found_by("small_batch", made(20, 190_ms)));
}
