// SPDX-License-Identifier: Apache-2.0
// Rules on distances to roofs and on clocks; what all rules on kernels have in common.
#include "host/advice/rule.hpp"
#include "made_kernel.hpp"
#include "support/catch.hpp"

#include <set>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

TEST_CASE("a kernel far from its roof saves at best the time beyond 0.8 of it") {
  auto const found = found_by("below_roof", kernel_of("k", 400_ms).at_dram(0.5));
  REQUIRE(found);
  CHECK(found->gain.low_ns == 0);
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 0.5 / 0.8)));
  CHECK(found->to_do.find("--set explain") != std::string::npos);
}

TEST_CASE("only what was read around launches is called counted") {
  auto const source_of = [](figure_source from) {
    auto const found = found_by(
        "below_roof",
        kernel_of("k", 400_ms).at_dram(0.5).with([&](auto& f) { f.figures.from.dram = from; }));
    REQUIRE(found);
    return found->because.front().source;
  };
  CHECK(source_of(figure_source::exact) == "counted");
  CHECK(source_of(figure_source::sampled) == "sampled");
  CHECK(source_of(figure_source::fitted) == "fitted");
}

TEST_CASE("the distance to the roof is no finding from 0.7 on or for short kernels") {
  CHECK(found_by("below_roof", kernel_of("k", 400_ms).at_dram(0.69)));
  CHECK(!found_by("below_roof", kernel_of("k", 400_ms).at_dram(0.7)));
  CHECK(!found_by("below_roof", kernel_of("k", 400_ms).at_dram(0.3).launched(100'000)));
  CHECK(!found_by("below_roof", kernel_of("k", 19_ms).at_dram(0.1)));
}

TEST_CASE("a kernel that fills the issue slots is not bound by latency") {
  CHECK(!found_by("below_roof", kernel_of("k", 400_ms).at_dram(0.01).issuing(0.7)));
  auto const found = found_by("below_roof", kernel_of("k", 400_ms).at_dram(0.01).issuing(0.6));
  REQUIRE(found);
  CHECK(found->what.find("its instructions") != std::string::npos);
  CHECK(found->what.find("latency") == std::string::npos);
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 0.6 / 0.8)));
}

TEST_CASE("issue slots of SMs that wait for others count as unused") {
  auto const uneven =
      kernel_of("k", 400_ms).at_dram(0.01).issuing(0.7).counting("sm__cycles_active.max", 110'000);
  auto const found = found_by("below_roof", uneven);
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 0.7 / 1.1 / 0.8)));
}

TEST_CASE("a fused attention kernel is compared with half of that target") {
  auto const made = [](double share) {
    return kernel_of("flash_fwd_kernel", 400_ms).at_peak_of(precision::tensor_bf16, share);
  };
  CHECK(!found_by("below_roof", made(0.36)));
  auto const found = found_by("below_roof", made(0.2));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(200e6));
}

TEST_CASE("kernels at the roof of DRAM are one line without a gain") {
  auto const found =
      found_by("dram_bound", run_of({kernel_of("a", 300_ms).at_dram(0.9).in_range("forward"),
                                     kernel_of("b", 200_ms).at_dram(0.8).in_range("backward"),
                                     kernel_of("c", 100_ms).at_dram(0.79)}));
  REQUIRE(found);
  CHECK(found->level == severity::info);
  CHECK(found->gain.high_ns == 0);
  CHECK(found->instances == 200);
  CHECK(found->range.empty());
  CHECK(found->what.find("50 %") != std::string::npos);
  CHECK(!found_by("dram_bound", kernel_of("c", 100_ms).at_dram(0.79)));
}

TEST_CASE("a clock lowered by full load is reported and claims no gain") {
  auto const gemm = kernel_of("gemm", 400_ms)
                        .at_peak_of(precision::tensor_bf16, 0.85)
                        .with_tensor_cores_active(0.85);
  auto const found = found_by("clock_loss", gemm.clocked(0.1));
  REQUIRE(found);
  CHECK(found->level == severity::info);
  CHECK(found->gain.high_ns == 0);
  CHECK(!found_by("clock_loss", gemm.clocked(0.05)));
}

TEST_CASE("a clock lowered by heat according to NVML is a warning at any load") {
  auto run = run_of({kernel_of("gemm", 400_ms)
                         .at_peak_of(precision::tensor_bf16, 0.85)
                         .with_tensor_cores_active(0.85)
                         .clocked(0.1)});
  run.devices[0].limits = {.moments = 100, .by_power = 90, .by_heat = 10};
  CHECK(found_by("clock_loss", run)->level == severity::info);
  run.devices[0].limits.by_heat = 11;
  auto const found = found_by("clock_loss", run);
  REQUIRE(found);
  CHECK(found->level == severity::warning);
  CHECK(found->what.find("heat") != std::string::npos);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.1));
}

TEST_CASE("power is named if NVML reports it or was not asked") {
  auto run = run_of({kernel_of("gemm", 400_ms)
                         .at_peak_of(precision::tensor_bf16, 0.85)
                         .with_tensor_cores_active(0.85)
                         .clocked(0.1)});
  auto const names_power = [&](clock_limits limits) {
    run.devices[0].limits = limits;
    return found_by("clock_loss", run)->what.find("power") != std::string::npos;
  };
  CHECK(names_power({}));
  CHECK(names_power({.moments = 100, .by_power = 1, .by_heat = 0}));
  CHECK(!names_power({.moments = 100, .by_power = 0, .by_heat = 0}));
}

TEST_CASE("a clock that is low in all kernels, also in light ones, is a warning") {
  auto const light = kernel_of("light", 400_ms).at_l2(0.5).clocked(0.3);
  auto const found = found_by("clock_loss", light);
  REQUIRE(found);
  CHECK(found->level == severity::warning);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.3));
  CHECK(found->gain.low_ns == 0);
  auto const beside = run_of({light, kernel_of("fast", 100_ms).at_dram(0.2).clocked(0.01)});
  CHECK(found_by("clock_loss", beside)->level == severity::info);
}

TEST_CASE(
    "kernel rules skip fewer than three launches, less than 1 % of the time and communication") {
  auto const slow = kernel_of("k", 400_ms).shaped({10, 1, 1}, {256, 1, 1});
  CHECK(found_by("small_grid", slow.launched(3)));
  CHECK(!found_by("small_grid", slow.launched(2)));
  CHECK(!found_by("small_grid", slow.with([](auto& f) { f.is_communication = true; })));
  CHECK(!found_by("block_size", kernel_of("k", 9'900_us).shaped({10'000, 1, 1}, {33, 1, 1})));
}

TEST_CASE("the same kernel on several GPUs is one finding of all of them") {
  auto const on = [](std::uint32_t gpu) {
    return kernel_of("k", 400_ms).shaped({33, 1, 1}, {256, 1, 1}).on_device(gpu);
  };
  auto const found = found_by("small_grid", run_of({on(0), on(1)}, 2));
  REQUIRE(found);
  CHECK(!found->device);
  CHECK(found->gain.high_ns == Approx(2 * 400e6 * 0.75));
}

TEST_CASE("each kernel rule states its question, when it fires and what it ignores") {
  std::set<std::string_view> names;
  for (auto const& one : kernel_rules()) {
    CHECK(names.insert(one.name).second);
    for (auto const text : {one.question, one.fires_at, one.gain, one.ignores, one.next})
      CHECK(!text.empty());
    CHECK(one.needs.has(data::kernels));
    CHECK(one.group == rule_group::kernel);
  }
}
