// SPDX-License-Identifier: Apache-2.0
// FLOP of CUDA cores that follow from the instructions on their FMA pipes.
#include "host/analysis/operation_rates.hpp"
#include "support/analyzed.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

using enum instruction_class;

constexpr auto fma_metric = "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum";
constexpr double launch_s = 200e-6, instructions_of_launch = 10'000;

/// A kernel of this code, complete.
kernel_code fma_code(fma_instructions fma, instruction_set holds = fp32) {
  return {90, holds, true, fma};
}

/// Twenty launches of 200 us of "k" on a GH100, each of 10,000 instructions on the FMA pipes by
/// samples, every second in blocks of another size. Nothing was counted around launches.
counted_trace fma_trace(kernel_code const& code, double in_an_interval = 1000) {
  std::vector<event> events;
  for (int i = 0; i < 20; ++i)
    events.push_back(
        kernel("k", duration_ns{1'000'000 + i * 300'000}, duration_ns{1'200'000 + i * 300'000})
            .correlated(static_cast<std::uint32_t>(i + 1))
            .shaped({8, 1, 1}, {i % 2 == 0 ? 128u : 256u, 1, 1}));
  counted_trace c(trace_of(std::move(events)));
  c.captured_until = trace_start + 10_ms;
  c.sample_in_time(7, fma_metric, 20, in_an_interval)
      .sample_in_time(7, active_cycles_metric, 20, 40'000)
      .sample_in_time(7, clock_metric, 20, 2e9, 2e9)
      .sample_in_time(7, dram_read_metric, 20, 20'000)
      .sample_in_time(7, dram_write_metric, 20, 20'000)
      .sample_in_time(7, l2_metric, 20, 40'000);
  for (auto const& shape : c.t.shapes) c.codes.push_back(record_of(shape.name, code));
  return c;
}

roofline_row row_of_fma(counted_trace const& c) {
  auto const rows = analyzed(c).by_kernel();
  REQUIRE(rows.size() == 1);
  return rows[0];
}

}  // namespace

TEST_CASE("FLOP that were not counted are estimated from FMA pipes and code, as an upper limit") {
  auto const row = row_of_fma(fma_trace(fma_code({10, 5, 0})));
  CHECK(row.source == flop_source::sampled);
  REQUIRE(row.total_flops);
  CHECK(*row.total_flops ==
        Approx(32 * 1.4 * 0.5 * instructions_of_launch / launch_s).epsilon(0.01));
  CHECK(*row.flops[static_cast<std::size_t>(precision::fp32)] == Approx(*row.total_flops));
  REQUIRE(row.total_flops_error);
  // Lanes may be off, down to one of a warp; a loop may compute half more than its code says. The
  // two geometries have one code.
  CHECK(row.flops_are_limit);
  CHECK(*row.total_flops_error / *row.total_flops == Approx(31.0 / 32).epsilon(0.02));
  REQUIRE(row.flops_low());
  REQUIRE(row.flops_high());
  CHECK(*row.flops_low() / *row.total_flops == Approx(1.0 / 32).epsilon(0.1));
  CHECK(*row.flops_high() / *row.total_flops == Approx(1.5).epsilon(0.02));
  CHECK(row.known_share == 1);
  CHECK(row.exact_share == 0);
}

TEST_CASE("no instruction computes more than a multiply-add") {
  auto const row = row_of_fma(fma_trace(fma_code({10, 19, 0})));
  CHECK(*row.total_flops == Approx(64 * instructions_of_launch / launch_s).epsilon(0.01));
}

TEST_CASE("if the code computes all that the pipes can do, the estimate is the maximum") {
  auto const row = row_of_fma(fma_trace(fma_code({10, 19, 0})));
  CHECK(row.flops_are_limit);
  CHECK(*row.flops_high() / *row.total_flops == Approx(1).epsilon(0.01));
}

TEST_CASE("masked and ragged warps lie within the error of the estimate") {
  // All lanes, every second one, ragged ones, one lane: the truth beside what all lanes would be.
  for (auto const lanes : {1.0, 0.5, 15.5 / 31, 1.0 / 32}) {
    auto const row = row_of_fma(fma_trace(fma_code({1000, 1990, 0})));
    auto const truth = lanes * 64 * instructions_of_launch / launch_s;
    CHECK(truth >= *row.flops_low() * 0.98);
    CHECK(truth <= *row.flops_high() * 1.01);
  }
}

TEST_CASE("a chain of FP16 pairs gets the FLOP that its threads compute") {
  // 2,048 HFMA2 and three moves of sm_90.
  auto const chain = fma_code({2 * 2048 + 3, 0, 4 * 2048}, fp16);
  auto const rate = fma_rate_by_code(&chain, "GH100");
  REQUIRE(rate);
  CHECK(rate->fp16 * chain.fma.count / 32 == Approx(4 * 2048).epsilon(0.01));
  // HFMA2 and HFMA2.MMA used alternately: the pipes count one for each, of four operations.
  auto const alternating = fma_code({2 * 1024 + 3, 0, 4 * 2048}, fp16);
  auto const faster = fma_rate_by_code(&alternating, "GH100");
  REQUIRE(faster);
  CHECK(faster->fp16 * alternating.fma.count / 32 == Approx(4 * 2048).epsilon(0.01));
}

TEST_CASE("FP16 is estimated in the same way") {
  auto const row = row_of_fma(fma_trace(fma_code({10, 0, 5}, fp16)));
  CHECK(*row.flops[static_cast<std::size_t>(precision::fp16)] ==
        Approx(32 * 1.4 * 0.5 * instructions_of_launch / launch_s).epsilon(0.01));
  CHECK(*row.flops[static_cast<std::size_t>(precision::fp32)] == 0);
}

TEST_CASE("there is no estimate for kernels that use other units or unknown code") {
  for (auto const holds : {fp32 | fp64, fp32 | wgmma_bf16 | wgmma_fp16}) {
    auto const row = row_of_fma(fma_trace(fma_code({10, 5, 0}, holds)));
    CHECK_FALSE(row.total_flops);
    CHECK(row.known_share == 0);
  }
  auto incomplete = fma_code({10, 5, 0});
  incomplete.is_complete = false;
  CHECK_FALSE(row_of_fma(fma_trace(incomplete)).total_flops);
  auto of_other_chip = fma_trace(fma_code({10, 5, 0}));
  of_other_chip.device.chip = of_other_chip.t.names.intern("GB100");
  CHECK_FALSE(row_of_fma(of_other_chip).total_flops);
}

TEST_CASE("there is no estimate for code that mostly computes addresses") {
  CHECK(row_of_fma(fma_trace(fma_code({52, 16, 0}))).total_flops);  // x * y
  CHECK(row_of_fma(fma_trace(fma_code({12, 1, 2}, fp32 | fp16))).total_flops);
  // Strided x * y, a cast from BF16 to FP32, and sums of columns and rows on an H200.
  for (auto const& code :
       {fma_instructions{252, 2, 0}, {259, 24, 0}, {1975, 189, 0}, {1231, 54, 0}}) {
    auto const row = row_of_fma(fma_trace(fma_code(code)));
    CHECK_FALSE(row.total_flops);
    CHECK(row.source == flop_source::not_measured);
  }
}

TEST_CASE("FLOP counted for one geometry give the FLOP per instruction of another") {
  auto c = fma_trace(fma_code({10, 5, 0}));
  c.plan(1, {tensor("bf16_dst_fp32"), tensor("fp16"), tensor("fp8"), tensor("tf32_dst_fp32"),
             tensor("int8"), tensor("fp64")});
  std::vector<std::string> cuda_cores;
  for (auto const* const type : {"f", "h", "d"})
    for (auto const* const operation : {"fma", "mul", "add"})
      cuda_cores.push_back(sass(std::string(type) + operation));
  c.plan(2, cuda_cores);
  c.sample(1, 2, {{sass("ffma"), 50'000}});
  analyzed const a(c);
  auto const rows = a.by_signature();
  REQUIRE(rows.size() == 2);
  auto const expected = 100'000 / launch_s;
  for (auto const& row : rows) {
    INFO(row.block.x);
    REQUIRE(row.total_flops);
    CHECK(*row.total_flops == Approx(expected).epsilon(0.02));
    auto const is_counted = row.block.x == 128;
    CHECK(row.source == (is_counted ? flop_source::counted : flop_source::sampled));
    if (is_counted) continue;
    REQUIRE(row.total_flops_error);
    CHECK(*row.total_flops_error / *row.total_flops == Approx(0.25).epsilon(0.05));
    CHECK_FALSE(row.flops_are_limit);  // lanes that are off were counted
  }
}

TEST_CASE("an estimate says that a roof is far, not that it is near") {
  constexpr auto fp32_roof = compute_roofs + static_cast<std::size_t>(precision::fp32);
  // Of 50 TFLOP/s: 5, and 30.
  auto far_from_it = fma_trace(fma_code({10, 5, 0}), 4.5e6);
  far_from_it.with_peaks();
  auto const far_row = row_of_fma(far_from_it);
  REQUIRE(far_row.shares[fp32_roof]);
  CHECK(*far_row.shares[fp32_roof] == Approx(0.1).epsilon(0.05));
  CHECK(far_row.bound.what == bound_by::kind::latency);

  auto near_to_it = fma_trace(fma_code({10, 5, 0}), 27e6);
  near_to_it.with_peaks();
  auto const near_row = row_of_fma(near_to_it);
  CHECK(*near_row.total_flops == Approx(30e12).epsilon(0.05));
  CHECK_FALSE(near_row.shares[fp32_roof]);
  CHECK(near_row.bound.what == bound_by::kind::unknown);
}

TEST_CASE("zero samples, and code without FMA instructions, give no estimate") {
  CHECK_FALSE(row_of_fma(fma_trace(fma_code({10, 5, 0}), 0)).total_flops);
  CHECK_FALSE(row_of_fma(fma_trace(fma_code({10, 0, 0}))).total_flops);
}

TEST_CASE("FP32 and FP16 estimates together do not exceed what the pipes can do") {
  auto const both = fma_code({10, 10, 20}, fp32 | fp16);
  auto const rate = fma_rate_by_code(&both, "GH100");
  REQUIRE(rate);
  CHECK(rate->fp32 / 64 + rate->fp16 / 64 == Approx(1));  // HFMA2 counts twice
  auto const with_mma = fma_code({10, 10, 30}, fp32 | fp16);
  auto const faster = fma_rate_by_code(&with_mma, "GH100");
  REQUIRE(faster);
  CHECK(faster->fp32 / 64 + faster->fp16 / 128 == Approx(1));  // HFMA2.MMA does not count
}
