// SPDX-License-Identifier: Apache-2.0
// FLOP that follow from the machine code of kernels.
#include "host/analysis/operation_rates.hpp"
#include "support/analyzed.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

using enum instruction_class;

constexpr auto bf16_place = static_cast<std::size_t>(precision::tensor_bf16);
constexpr auto fp32_place = static_cast<std::size_t>(precision::fp32);

kernel_code code_with(instruction_set holds, bool is_complete = true) {
  return {90, holds, is_complete};
}

/// Ten kernels "k" of 200 us on a GH100 of 100 SMs, sampled every 20 us, nothing counted around
/// them: 1000 cycles of the tensor cores in each sample, 10,000 in a launch. Every second one is
/// named `other`. All of them are in a range.
counted_trace sampled_trace(kernel_code const& code, char const* other = "k") {
  std::vector<event> events{range("step", duration_ns{500'000}, duration_ns{9'000'000})};
  for (int i = 0; i < 10; ++i)
    events.push_back(kernel(i % 2 == 0 ? "k" : other, duration_ns{1'000'000 + i * 300'000},
                            duration_ns{1'200'000 + i * 300'000})
                         .correlated(static_cast<std::uint32_t>(i + 1)));
  counted_trace c(trace_of(std::move(events)));
  c.captured_until = trace_start + 10_ms;
  for (auto const* const name : {tensor_cycles_metric, active_cycles_metric, dram_read_metric})
    c.sample_in_time(0, name, 10, 1000);
  for (auto const& shape : c.t.shapes) c.codes.push_back(record_of(shape.name, code));
  return c;
}

roofline_row row_of(counted_trace const& c) {
  auto const rows = analyzed(c).by_kernel();
  REQUIRE(rows.size() == 1);
  return rows[0];
}

}  // namespace

TEST_CASE("a kernel with one tensor type gets FLOP from its cycles, without any reading") {
  auto const row = row_of(sampled_trace(code_with(wgmma_bf16 | fp32)));
  CHECK(row.source == flop_source::tensor_cycles);  // FP32 nobody counted
  REQUIRE(row.total_flops);
  CHECK(*row.total_flops == Approx(1024. * 100 * 10'000 / 200e-6));
  CHECK(*row.flops[bf16_place] == Approx(*row.total_flops));
  CHECK_FALSE(row.flops[fp32_place]);
  CHECK(row.known_share == 1);
  CHECK(row.exact_share == 0);
}

TEST_CASE("a kernel with only tensor instructions has all its FLOP from samples") {
  auto const row = row_of(sampled_trace(code_with(wgmma_tf32)));
  CHECK(row.source == flop_source::sampled);
  CHECK(*row.total_flops == Approx(512. * 100 * 10'000 / 200e-6));
  REQUIRE(row.flops[fp32_place]);
  CHECK(*row.flops[fp32_place] == 0);
  CHECK(*row.flops[bf16_place] == 0);
}

TEST_CASE("cycles that were counted around a launch are not called sampled") {
  counted_trace c(trace_of({kernel("k", 100_us, 300_us).correlated(1)}));
  c.plan(0, {tensor_cycles_metric, active_cycles_metric});
  c.sample(1, 0, {{tensor_cycles_metric, 10'000}, {active_cycles_metric, 20'000}});
  c.codes.push_back(record_of(c.t.shapes[0].name, code_with(wgmma_bf16)));
  auto const row = row_of(c);
  CHECK(row.source == flop_source::tensor_cycles);
  CHECK(*row.total_flops == Approx(1024. * 100 * 10'000 / 200e-6));
  CHECK_FALSE(row.total_flops_error);
}

TEST_CASE("FLOP from cycles have the error of the samples") {
  auto c = sampled_trace(code_with(wgmma_bf16));
  for (std::size_t i = 0; i < c.rows.size(); i += 2) c.rows[i].value *= 1.1;
  auto const row = row_of(c);
  REQUIRE(row.total_flops_error);
  CHECK(*row.total_flops_error > 0);
  CHECK(*row.flops_error[bf16_place] == Approx(*row.total_flops_error));
}

TEST_CASE("a kernel without arithmetic is known to have no FLOP") {
  auto const row = row_of(sampled_trace(code_with({})));
  CHECK(row.source == flop_source::machine_code);
  REQUIRE(row.total_flops);
  CHECK(*row.total_flops == 0);
  CHECK(row.exact_share == 1);
  CHECK(row.known_share == 1);
}

TEST_CASE("incomplete code gives no FLOP") {
  for (auto const holds : {instruction_set(), instruction_set(wgmma_bf16)}) {
    auto const row = row_of(sampled_trace(code_with(holds, false)));
    CHECK(row.source == flop_source::not_measured);
    CHECK_FALSE(row.total_flops);
    CHECK_FALSE(row.flops[fp32_place]);
    CHECK(row.known_share == 0);
  }
}

TEST_CASE("cycles of several types, or of types without a measured rate, give no FLOP") {
  for (auto const holds :
       {wgmma_bf16 | wgmma_fp16, mma_bf16 | mma_bf16_short, wgmma_bf16 | sparse_tensor,
        instruction_set(mma_tf32_short), instruction_set(tcgen05_fp16_bf16_tf32)}) {
    auto const row = row_of(sampled_trace(code_with(holds)));
    CHECK(row.source == flop_source::not_measured);
    CHECK(row.flops[fp32_place]);  // none
  }
}

TEST_CASE("rates are used only for their chip") {
  auto const code = code_with(wgmma_bf16);
  CHECK(rate_by_code(&code, {"GH100", 132})->operations == 132 * 1024);
  auto const deep = code_with(mma_bf16), narrow = code_with(wgmma_bf16 | narrow_wgmma);
  auto const not_deep = code_with(mma_bf16_short);
  CHECK(rate_by_code(&deep, {"GH100", 132})->operations == 132 * 2048.0 / 3);
  CHECK(rate_by_code(&not_deep, {"GH100", 132})->operations == 132 * 512);
  CHECK(rate_by_code(&narrow, {"GH100", 132})->operations == 132 * 1024);
  CHECK(rate_by_code(&deep, {"GB100", 148})->operations == 148 * 512);
  CHECK_FALSE(rate_by_code(&code, {"GB100", 148}));
  CHECK_FALSE(rate_by_code(&deep, {"TU102", 72}));
  CHECK_FALSE(rate_by_code(&deep, {"GA10B", 16}));
  CHECK_FALSE(rate_by_code(&code, {"", 132}));
  CHECK_FALSE(rate_by_code(nullptr, {"GH100", 132}));
}

namespace {

counted_trace sampled_on(char const* chip, kernel_code const& code, char const* other = "k") {
  auto c = sampled_trace(code, other);
  c.device.chip = c.t.names.intern(chip);
  return c;
}

}  // namespace

TEST_CASE("FLOP from rates that were not measured on the chip have an error of 15 %") {
  struct expected {
    char const* chip;
    kernel_code code;
    double operations, error;
  };
  auto const table = {expected{"GA100", {80, mma_bf16, true}, 512, 0.15},
                      expected{"AD102", {89, mma_fp8, true}, 512, 0.15},
                      expected{"AD102", {80, mma_fp16, true}, 256, 0.15},
                      expected{"GB202", {120, mma_fp4, true}, 1024, 0.15},
                      expected{"GH100", {90, mma_int8, true}, 4096.0 / 3, 0}};
  for (auto const& e : table) {
    INFO(e.chip << ' ' << e.operations);
    auto const c = sampled_on(e.chip, e.code);
    auto const row = row_of(c);
    CHECK(row.source == flop_source::sampled);
    REQUIRE(row.total_flops);
    CHECK(*row.total_flops == Approx(e.operations * 100 * 10'000 / 200e-6));
    CHECK(row.total_flops_error.value_or(0) / *row.total_flops == Approx(e.error).margin(0.005));
    analyzed const a(c);
    CHECK(a.roofs().cycles_share() == 1);
    CHECK(a.roofs().planned_share() == (e.error > 0 ? 1 : 0));
  }
}

TEST_CASE("errors of rates that were not measured on the chip do not average out") {
  auto const c = sampled_on("GA100", {80, mma_bf16, true}, "l");
  analyzed const a(c);
  CHECK(a.by_kernel().size() == 2);
  auto const rows = a.by_range();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].launches == 10);
  CHECK(*rows[0].total_flops_error / *rows[0].total_flops == Approx(0.15).margin(0.005));
}

TEST_CASE("types and forms whose rate CUPTI does not tell have none on any other chip") {
  for (auto const* const chip : {"GA100", "GB100", "GB110", "GB202"})
    for (auto const what : {mma_bf16_short, mma_int8_short, tcgen05_fp16_bf16_tf32,
                            tcgen05_fp8_fp6_fp4, tcgen05_fp4, tcgen05_int8, mma_int4, wgmma_bf16}) {
      INFO(chip << ' ' << static_cast<int>(what));
      auto const code = code_with(what);
      CHECK_FALSE(rate_by_code(&code, {chip, 100}));
    }
}

TEST_CASE("a counted kernel with the same instructions takes the place of a planned rate") {
  auto c = sampled_on("GA100", {80, mma_bf16, true});
  auto const counts = [&](double operations, kernel_code const& code) {
    auto more = c;
    auto const read = static_cast<std::uint32_t>(more.t.kernels.size() + 1);
    auto const beside = trace_of({kernel("counted", 5_ms, 6_ms).correlated(read)});
    more.t.shapes.push_back(beside.shapes[0]);
    more.t.shapes.back().id = static_cast<shape_id>(2);
    more.t.shapes.back().name = more.t.names.intern("counted");
    more.t.kernels.push_back(beside.kernels[0]);
    more.t.kernels.back().shape = static_cast<shape_id>(2);
    more.codes.push_back(record_of(more.t.shapes.back().name, code));
    more.plan(1, {tensor_cycles_metric, tensor("bf16_dst_fp32")});
    more.sample(read, 1, {{tensor_cycles_metric, 1000}, {tensor("bf16_dst_fp32"), operations}});
    auto const rows = analyzed(more).by_kernel();
    auto const* const row = row_named(rows, "k");
    REQUIRE(row != nullptr);
    return *row;
  };
  kernel_code const same{80, mma_bf16, true}, short_forms{80, mma_bf16_short, true};
  auto const counted = counts(400. * 100 * 1000, same);
  CHECK(*counted.total_flops == Approx(400. * 100 * 10'000 / 200e-6));
  CHECK(*counted.total_flops_error ==
        Approx(tensor_rate_error * *counted.total_flops).epsilon(0.01));
  auto const other = counts(400. * 100 * 1000, short_forms);
  CHECK(*other.total_flops == Approx(512. * 100 * 10'000 / 200e-6));
}

TEST_CASE("operations without an instruction in the code are zero without counting") {
  counted_trace c(trace_of({kernel("k", 100_us, 120_us).correlated(1)}));
  c.plan(0, {tensor("bf16_dst_fp32")});
  c.sample(1, 0, {{tensor("bf16_dst_fp32"), 5e9}});
  analyzed const a(c);
  auto const code = code_with(wgmma_bf16 | fp32);
  auto const flop = count_flop(a.metrics, a.workload_of(0), "GH100", &code);
  CHECK_FALSE(flop.total);
  REQUIRE(flop.tensor_alone);
  CHECK(*flop.tensor_alone == 5e9);
  CHECK(flop.is_missing[fp32_place]);
  CHECK_FALSE(flop.is_missing[static_cast<std::size_t>(precision::tensor_int8)]);
  auto const without_fp32 = code_with(wgmma_bf16);
  CHECK(*count_flop(a.metrics, a.workload_of(0), "GH100", &without_fp32).total == 5e9);
}

TEST_CASE("code does not show the FP8 operations of CUDA cores on GB10x") {
  kernel_code const code{100, {}, true};
  CHECK_FALSE(has_none_of(&code, precision::fp8));
  CHECK(has_none_of(&code, precision::fp32));
  CHECK(has_none_of(&code, precision::tensor_fp4));
}
