// SPDX-License-Identifier: Apache-2.0
// What is said of each kernel: what it can save at all, what launches hide, geometries in one.
#include "host/advice/advice.hpp"
#include "host/advice/kernel_caps.hpp"
#include "made_kernel.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

namespace {

/// On the first kernel of the run.
finding on_kernel(std::string_view rule, kernel_claim claim, duration_ns high) {
  finding one;
  one.rule = rule;
  one.kernel = "k";
  one.claim = claim;
  one.kernel_line = 0;
  one.instances = 10;
  one.gain = {static_cast<double>(high.value) / 2, static_cast<double>(high.value)};
  one.bucket = time_bucket::compute;
  return one;
}

std::vector<finding> shared(std::vector<finding> findings, made_kernel const& kernel) {
  return share_kernel_caps(std::move(findings), run_of({kernel}));
}

double in_ms(double ns) {
  return ns / 1e6;
}

constexpr auto cause = kernel_claim::cause, symptom = kernel_claim::symptom,
               rest = kernel_claim::remainder, other_work = kernel_claim::other_work;

}  // namespace

TEST_CASE("a kernel can save the time that it takes beyond 0.8 of its roof") {
  CHECK(cap_of(kernel_of("k", 100_ms).at_dram(0.4).facts) == Approx(50e6));
  CHECK(cap_of(kernel_of("k", 100_ms).at_dram(0.85).facts) == 0);
  CHECK(cap_of(kernel_of("k", 100_ms).facts) == Approx(100e6));
}

TEST_CASE(
    "the high gain of a cause is the distance to the roof, the low gain the distance to 0.8 of "
    "it") {
  auto const of = [](double share) {
    auto one = on_kernel("tail", cause, 100_ms);
    one.gain.low_ns = 90e6;
    return shared({one}, kernel_of("k", 100_ms).at_dram(share));
  };
  REQUIRE(of(0.4).size() == 1);
  CHECK(in_ms(of(0.4)[0].gain.high_ns) == Approx(60));
  CHECK(in_ms(of(0.4)[0].gain.low_ns) == Approx(50));
  CHECK(in_ms(of(0.79)[0].gain.high_ns) == Approx(21));
  CHECK(of(0.8).empty());
  auto const attention = kernel_of("flash_fwd_kernel", 100_ms);
  CHECK(in_ms(time_above_roof_of(attention.at_dram(0.3).facts)) == Approx(40));
  CHECK(time_above_roof_of(attention.at_dram(0.41).facts) == 0);
}

TEST_CASE("causes on one kernel share its cap, the largest first; never more") {
  auto const left = shared({on_kernel("small", cause, 20_ms), on_kernel("great", cause, 50_ms)},
                           kernel_of("k", 100_ms).at_dram(0.4));
  REQUIRE(left.size() == 2);
  CHECK(in_ms(left[0].gain.high_ns) == Approx(10));
  CHECK(in_ms(left[1].gain.high_ns) == Approx(50));
}

TEST_CASE("causes that get nothing of a cap are named by the leading finding") {
  auto const left = shared({on_kernel("small", cause, 20_ms), on_kernel("great", cause, 70_ms)},
                           kernel_of("k", 100_ms).at_dram(0.4));
  REQUIRE(left.size() == 1);
  CHECK(in_ms(left[0].gain.high_ns) == Approx(60));
  CHECK(in_ms(left[0].gain.low_ns) == Approx(35));
  CHECK(left[0].also == std::vector<std::string_view>{"small"});
}

TEST_CASE("symptoms and the remainder are not reported beside a cause, even a smaller one") {
  auto const left = shared({on_kernel("below_roof", rest, 50_ms),
                            on_kernel("stalls", symptom, 40_ms), on_kernel("tail", cause, 10_ms)},
                           kernel_of("k", 100_ms).at_dram(0.4));
  REQUIRE(left.size() == 1);
  CHECK(left[0].rule == "tail");
  CHECK(left[0].also == std::vector<std::string_view>{"stalls", "below_roof"});
}

TEST_CASE("a cause of less than a tenth of the cap does not suppress the remainder") {
  auto const left = shared({on_kernel("below_roof", rest, 50_ms), on_kernel("tail", cause, 4_ms)},
                           kernel_of("k", 100_ms).at_dram(0.4));
  REQUIRE(left.size() == 2);
  CHECK(in_ms(left[0].gain.high_ns) == Approx(46));
}

TEST_CASE("findings on other work may claim all of the time, and causes get the rest") {
  auto const left =
      shared({on_kernel("tail", cause, 50_ms), on_kernel("uncoalesced", other_work, 80_ms)},
             kernel_of("k", 100_ms).at_dram(0.2));
  REQUIRE(left.size() == 1);
  CHECK(in_ms(left[0].gain.high_ns) == Approx(80));
  auto const both =
      shared({on_kernel("tail", cause, 50_ms), on_kernel("uncoalesced", other_work, 30_ms)},
             kernel_of("k", 100_ms).at_dram(0.2));
  REQUIRE(both.size() == 2);
  CHECK(in_ms(both[0].gain.high_ns) == Approx(50));
}

TEST_CASE("the low gain counts only time with a queued successor and nothing beside it") {
  auto const run = run_of({kernel_of("k", 100_ms).followed(0.25)});
  std::vector findings = {on_kernel("tail", cause, 40_ms)};
  take_hidden_gains(findings, run);
  CHECK(in_ms(findings[0].gain.low_ns) == Approx(5));
  CHECK(in_ms(findings[0].gain.high_ns) == Approx(40));
  CHECK(!findings[0].is_hidden_by_launches);
}

TEST_CASE("if launches limit the program, a kernel without a queued successor saves nothing") {
  auto const run = launch_bound(run_of({kernel_of("k", 100_ms).followed(0)}));
  std::vector findings = {on_kernel("tail", cause, 40_ms)};
  take_hidden_gains(findings, run);
  CHECK(findings[0].gain.high_ns == 0);
  CHECK(findings[0].is_hidden_by_launches);
  CHECK(findings[0].to_do.find("CPU launches too slowly") != std::string::npos);
}

TEST_CASE("if launches limit the program, a kernel with a queued successor still saves its time") {
  auto const run = launch_bound(run_of({kernel_of("k", 100_ms).followed(0.9)}));
  std::vector findings = {on_kernel("tail", cause, 40_ms)};
  take_hidden_gains(findings, run);
  CHECK(in_ms(findings[0].gain.high_ns) == Approx(40));
  CHECK(!findings[0].is_hidden_by_launches);
}

TEST_CASE("steps show if the launching thread needs longer than the GPU") {
  auto run = run_of({kernel_of("k", 100_ms)});
  CHECK(!launches_hold(run));
  run.steps.period_ns = {500e6, 500e6};
  run.steps.busy_ns = 1e6;
  run.steps.items = 100;
  run.run.back_to_back = 1'000;
  run.steps.launching_thread_ns = 1.05e6;
  CHECK(!launches_hold(run));
  run.steps.launching_thread_ns = 1.15e6;
  CHECK(launches_hold(run));
}

TEST_CASE("geometries of one kernel are one finding, with the text of the worst") {
  auto small = on_kernel("tail", cause, 10_ms), great = on_kernel("tail", cause, 30_ms);
  small.geometry = "grid 133, block 256", great.geometry = "grid 265, block 256";
  small.what = "small", great.what = "great";
  great.device = device_id{1};
  auto const merged = merge_findings({small, great, small});
  REQUIRE(merged.size() == 1);
  CHECK(in_ms(merged[0].gain.high_ns) == Approx(50));
  CHECK(in_ms(merged[0].gain.low_ns) == Approx(25));
  CHECK(merged[0].instances == 30);
  CHECK(merged[0].geometries == 2);
  CHECK(!merged[0].device);
  CHECK(merged[0].what == "great (worst of 2 launch geometries: grid 265, block 256)");
}

TEST_CASE("findings on other rules, kernels, calls and ranges stay separate") {
  auto const a = on_kernel("tail", cause, 10_ms), b = on_kernel("stalls", symptom, 10_ms);
  auto other = a;
  other.kernel = "l";
  finding call, in_range;
  call.rule = in_range.rule = "sync_point";
  in_range.range = "step";
  CHECK(merge_findings({a, b, other, call, in_range}).size() == 5);
}

TEST_CASE("one fix for many kernels is one finding, whatever their names") {
  auto a = on_kernel("misaligned_products", cause, 10_ms), b = a;
  b.kernel = "l";
  a.family = b.family = "rows of 2 bytes";
  auto const merged = merge_findings({a, b});
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].kernels == 2);
}

TEST_CASE("thirty geometries of a kernel, each below 1 % of the window, add up to one finding") {
  std::vector<made_kernel> kernels;
  for (std::uint32_t i = 1; i <= 30; ++i)
    kernels.push_back(kernel_of("k", 5_ms).launched(1).shaped({i, 1, 1}, {256, 1, 1}));
  auto const run = run_of(kernels);
  auto const found = found_by("small_grid", run);
  REQUIRE(found);
  CHECK(found->geometries == 30);
  CHECK(found->instances == 30);
}

TEST_CASE("all gains claimed for a kernel fit into its time") {
  auto const kernel = kernel_of("ampere_sgemm_128x64_tn", 500_ms)
                          .shaped({100, 1, 1}, {250, 1, 1})
                          .at_peak_of(precision::fp32, 0.35)
                          .computing(precision::fp32, 21e12)
                          .issuing(0.3)
                          .stalled("long_scoreboard", 0.6);
  auto const given = give_advice(run_of({kernel}), {});
  double claimed = 0;
  for (auto const& one : given.findings) claimed += one.gain.high_ns;
  CHECK(given.findings.size() >= 1);
  CHECK(claimed <= 500e6 * 1.000001);
}
