// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sample_series.hpp"
#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <cmath>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

sample_interval interval(duration_ns start, duration_ns end) {
  return {(trace_start + start).value, (trace_start + end).value};
}

}  // namespace

TEST_CASE("intervals before the first and after the last work may contain unrecorded work") {
  recorded_time recorded;
  recorded.see(trace_start + 100_us, 50_us);
  recorded.see(trace_start + 300_us, 50_us);
  CHECK_FALSE(recorded.holds(interval(80_us, 100_us)));
  CHECK(recorded.holds(interval(90_us, 110_us)));
  CHECK(recorded.holds(interval(200_us, 220_us)));
  CHECK(recorded.holds(interval(340_us, 360_us)));
  CHECK_FALSE(recorded.holds(interval(350_us, 370_us)));
}

TEST_CASE("between captures nothing is recorded") {
  recorded_time recorded;
  recorded.add_capture(trace_start, trace_start + 100_us);
  recorded.add_capture(trace_start + 300_us, trace_start + 400_us);
  recorded.see(trace_start + 10_us, 60_us);
  recorded.see(trace_start + 90_us, 50_us);  // launched inside, it ends later
  recorded.see(trace_start + 310_us, 20_us);
  CHECK(recorded.holds(interval(80_us, 100_us)));
  CHECK_FALSE(recorded.holds(interval(90_us, 110_us)));
  CHECK_FALSE(recorded.holds(interval(120_us, 140_us)));
  CHECK_FALSE(recorded.holds(interval(280_us, 320_us)));
  CHECK(recorded.holds(interval(310_us, 330_us)));
  CHECK_FALSE(recorded.holds(interval(340_us, 360_us)));
}

TEST_CASE("a file without an end mark may lack the last records") {
  recorded_time recorded;
  recorded.end_is_unsure(100_us);
  recorded.see(trace_start, 500_us);
  CHECK(recorded.holds(interval(380_us, 400_us)));
  CHECK_FALSE(recorded.holds(interval(390_us, 410_us)));
}

TEST_CASE("work without a record at the end of the samples is not taken for idle time") {
  for (auto const recorded_share : {0.98, 0.9}) {
    simulated_gpu gpu(7);
    for (int i = 0; i < 8000; ++i)
      gpu.run(gpu.toss(0.5) ? "a" : "b", gpu.uniform(5, 7), {2e7, 50, 0})
          .wait(gpu.uniform(0.6, 2.5));
    auto c = gpu.with_jitter(0.1).sampled();
    std::sort(c.t.kernels.begin(), c.t.kernels.end(),
              [](auto const& a, auto const& b) { return a.start < b.start; });
    c.t.kernels.resize(
        static_cast<std::size_t>(static_cast<double>(c.t.kernels.size()) * recorded_share));
    analyzed const a(c);
    auto const bytes = figure_of(a, "a", dram_read_metric);
    REQUIRE(bytes);
    INFO(bytes->mean << " +- " << bytes->error);
    CHECK(bytes->mean == Approx(2e7).epsilon(0.05));
    CHECK(std::abs(bytes->mean - 2e7) < 2 * bytes->error);
    CHECK(a.sampled.facts().not_recorded > 0);
  }
}

TEST_CASE("samples in which work has the times of another launch are not used") {
  for (auto const is_marked : {true, false}) {
    simulated_gpu gpu(7);
    for (int i = 0; i < 8000; ++i) {
      auto const is_a = gpu.toss(0.5);
      gpu.run(is_a ? "a" : "b", gpu.uniform(5, 7), {is_a ? 2e7 : 5e6, 50, 0})
          .wait(gpu.uniform(0.6, 2.5));
    }
    auto c = gpu.with_jitter(0.1).sampled();
    auto& kernels = c.t.kernels;
    std::sort(kernels.begin(), kernels.end(),
              [](auto const& a, auto const& b) { return a.start < b.start; });
    auto const one = kernels.front().shape;
    auto const other = std::find_if(kernels.begin(), kernels.end(), [&](auto const& k) {
                         return k.shape != one;
                       })->shape;
    for (auto i = kernels.size() / 2; i < kernels.size(); ++i) {
      kernels[i].shape = kernels[i].shape == one ? other : one;  // the other one ran then
      if (is_marked) kernels[i].time_of = correlation_id{1};
    }
    analyzed const a(c);
    auto const bytes = figure_of(a, "a", dram_read_metric);
    auto const is_right = bytes && std::abs(bytes->mean - 2e7) < 0.05 * 2e7;
    CHECK(is_right == is_marked);
  }
}
