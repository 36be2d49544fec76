// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

struct truth {
  double us = 0;
  work_load load;
};

/// Kernels of 3 to 50 us, most of them well below two intervals.
std::map<std::string, truth> const kernels_of_a_step = {
    {"norm", {3, {4e6, 40, 0}}},          {"softmax", {6, {9e6, 55, 0}}},
    {"gemm_small", {12, {5e6, 15, 9e3}}}, {"gemm_large", {33, {3e7, 20, 4e4}}},
    {"gelu", {8, {2e7, 80, 0}}},          {"reduce", {18, {4e7, 70, 0}}},
    {"sort", {50, {6e7, 35, 0}}},         {"index", {4, {0, 25, 0}}},
};

simulated_gpu steps(unsigned seed, int launches) {
  simulated_gpu gpu(seed);
  gpu.with_jitter(0.1).with_variation(0.03).with_idle_rate(20);
  std::vector<std::string> names;
  for (auto const& [name, of] : kernels_of_a_step) names.push_back(name);
  for (int i = 0; i < launches; ++i) {
    auto const& name = names[static_cast<std::size_t>(gpu.one_of(static_cast<int>(names.size())))];
    auto const& of = kernels_of_a_step.at(name);
    gpu.wait(gpu.toss(0.3) ? gpu.uniform(0.5, 8) : 0.8);
    gpu.run(name, of.us * gpu.uniform(0.97, 1.03), of.load);
  }
  return gpu;
}

}  // namespace

TEST_CASE("kernels shorter than a sample are separated by the other work in their samples") {
  auto const c = steps(1, 20'000).sampled();
  analyzed const a(c);
  for (auto const& [name, of] : kernels_of_a_step) {
    auto const bytes = figure_of(a, name, dram_read_metric);
    INFO(name);
    REQUIRE(bytes);
    INFO(bytes->mean << " +- " << bytes->error << ", truly " << of.load.bytes);
    CHECK(bytes->source == figure_source::fitted);
    CHECK(std::abs(bytes->mean - of.load.bytes) < 0.05 * std::max(of.load.bytes, 1e6));
    CHECK(figure_of(a, name, occupancy_metric)->mean == within(of.load.occupancy, 0.05));
    CHECK(figure_of(a, name, active_cycles_metric)->mean ==
          within(of.us * 1e-6 * simulated_clock, 0.05));
    CHECK(figure_of(a, name, clock_metric)->mean == within(simulated_clock, 0.01));
  }
  CHECK(figure_of(a, "gemm_small", tensor_cycles_metric)->mean == within(9e3, 0.05));
}

namespace {

struct calibration {
  std::size_t all = 0, inside_two = 0, inside_three = 0;  // errors
  double worst = 0;                                       // share of the truth
  double share(std::size_t n) const { return static_cast<double>(n) / static_cast<double>(all); }
};

calibration calibrate(bool slow_starts) {
  calibration result;
  for (unsigned seed = 100; seed < 140; ++seed) {
    auto gpu = steps(seed, 3000);
    if (slow_starts) gpu.starting_slowly();
    auto const c = gpu.sampled();
    analyzed const a(c);
    for (auto const& [name, of] : kernels_of_a_step)
      for (auto const& [metric, is] :
           {std::pair{dram_read_metric, of.load.bytes}, {occupancy_metric, of.load.occupancy}}) {
        auto const figure = figure_of(a, name, metric);
        if (!figure) continue;
        auto const off = std::abs(figure->mean - is);
        if (is > 0) result.worst = std::max(result.worst, off / is);
        ++result.all;
        result.inside_two += off <= 2 * figure->error;
        result.inside_three += off <= 3 * figure->error;
      }
  }
  std::cout << "within 2 errors: " << result.share(result.inside_two)
            << ", within 3: " << result.share(result.inside_three) << ", of " << result.all
            << "; at most " << result.worst * 100 << "% off\n";
  return result;
}

}  // namespace

TEST_CASE("error bars hold the truth as often as they promise") {
  auto const result = calibrate(false);
  CHECK(result.all > 600);
  CHECK(result.share(result.inside_two) > 0.93);
  CHECK(result.share(result.inside_two) < 0.995);  // errors that are too large tell nothing either
  CHECK(result.share(result.inside_three) > 0.98);
  CHECK(result.worst < 0.05);
}

TEST_CASE("kernels that start slowly are separated too, and their error bars are nearly as good") {
  auto const result = calibrate(true);
  CHECK(result.all > 600);
  CHECK(result.share(result.inside_two) > 0.85);
  CHECK(result.share(result.inside_three) > 0.95);
  CHECK(result.worst < 0.05);
}

TEST_CASE("kernels that always share samples in the same way have no figures of their own") {
  simulated_gpu gpu(5);
  for (int i = 0; i < 4000; ++i) {
    if (gpu.toss(0.7))
      gpu.run_at("a", 20 * i + 2, 5, {3e6, 50, 0}).run_at("b", 20 * i + 7, 5, {1e6, 50, 0});
    if (gpu.toss(0.5)) gpu.run_at("c", 20 * i + gpu.uniform(13, 19), 3, {5e6, 50, 0});
  }
  auto const c = gpu.sampled();
  analyzed const a(c);
  CHECK_FALSE(figure_of(a, "a", dram_read_metric));
  CHECK_FALSE(figure_of(a, "b", dram_read_metric));
  CHECK(a.sampled.facts().not_told_apart == 2);
  REQUIRE(figure_of(a, "c", dram_read_metric));
  CHECK(figure_of(a, "c", dram_read_metric)->mean == within(5e6, 0.05));
}

TEST_CASE("if sample ends separate pairs of kernels, the errors show how well") {
  simulated_gpu gpu(6);
  for (int i = 0; i < 6000; ++i)
    gpu.run("a", 7, {3e6, 50, 0}).run("b", 7, {1e6, 50, 0}).wait(gpu.uniform(1, 30));
  auto const c = gpu.with_jitter(0.1).with_variation(0.05).sampled();
  analyzed const a(c);
  for (auto const& [name, bytes] : {std::pair{"a", 3e6}, {"b", 1e6}}) {
    auto const figure = figure_of(a, name, dram_read_metric);
    INFO(name);
    REQUIRE(figure);
    INFO(figure->mean << " +- " << figure->error);
    CHECK(std::abs(figure->mean - bytes) < 3 * figure->error);
    CHECK(figure->error < 0.2 * bytes);
  }
}

TEST_CASE("kernels that ran only a few times have honest errors") {
  constexpr int rare_kernels = 20;
  std::size_t found = 0, inside_two = 0, inside_four = 0;
  for (unsigned seed = 200; seed < 210; ++seed) {
    auto gpu = steps(seed, 10);
    std::map<std::string, double> bytes;
    for (int launch = 0; launch < 10; ++launch)
      for (int k = 0; k < rare_kernels; ++k) {
        auto const us = 4.0 + k;
        bytes[numbered("rare", k)] = us * 1e5 * (1 + k % 7);
        for (int i = 0; i < 20; ++i) {
          auto const& [name, of] = *std::next(kernels_of_a_step.begin(), gpu.one_of(8));
          gpu.run(name, of.us * gpu.uniform(0.97, 1.03), of.load).wait(gpu.uniform(0.5, 8));
        }
        gpu.run(numbered("rare", k), us, {bytes[numbered("rare", k)], 50, 0}).wait(0.8);
      }
    auto const c = gpu.sampled();
    analyzed const a(c);
    for (auto const& [name, truth] : bytes)
      if (auto const figure = figure_of(a, name, dram_read_metric)) {
        auto const off = std::abs(figure->mean - truth);
        ++found;
        inside_two += off <= 2 * figure->error;
        inside_four += off <= 4 * figure->error;
      }
  }
  std::cout << "ten launches each: within 2 errors " << inside_two << ", within 4 " << inside_four
            << " of " << found << '\n';
  CHECK(found >= 190);
  CHECK(static_cast<double>(inside_two) > 0.9 * static_cast<double>(found));
  CHECK(static_cast<double>(inside_four) > 0.98 * static_cast<double>(found));
}

TEST_CASE("inseparable kernels do not spoil the figures of others") {
  auto gpu = steps(21, 3000);
  for (int i = 0; i < 60; ++i) {
    for (int k = 0; k < 4; ++k) gpu.run(numbered("tiny", k), 1.2, {1e6, 50, 0}).wait(0.3);
    gpu.run("gelu", 8, kernels_of_a_step.at("gelu").load).wait(gpu.uniform(0.5, 8));
  }
  auto const c = gpu.sampled();
  analyzed const a(c);
  for (auto const& [name, of] : kernels_of_a_step) {
    INFO(name);
    for (auto const* const metric : {dram_read_metric, active_cycles_metric, occupancy_metric})
      REQUIRE(figure_of(a, name, metric));
    auto const cycles = figure_of(a, name, active_cycles_metric);
    INFO(cycles->mean << " +- " << cycles->error);
    CHECK(cycles->mean == within(of.us * 1e-6 * simulated_clock, 0.05));
    CHECK(cycles->error < 0.05 * cycles->mean);
  }
}

TEST_CASE("copies beside kernels keep their own counts") {
  simulated_gpu gpu(8);
  for (int i = 0; i < 4000; ++i) {
    auto const before = gpu.now_us();
    gpu.run("k", 9, {2e6, 50, 0}).wait(gpu.uniform(0.5, 12));
    if (!gpu.toss(0.3)) continue;
    auto const megabytes = gpu.uniform(1, 4);
    gpu.copy_at(before + gpu.uniform(0, 5), megabytes * 4,
                static_cast<std::uint64_t>(megabytes * 1e6), megabytes * 1e6);
  }
  auto const c = gpu.with_jitter(0.1).sampled();
  analyzed const a(c);
  CHECK(figure_of(a, "k", dram_read_metric)->mean == within(2e6, 0.05));
}

TEST_CASE("concurrent kernels of two streams are separated, and marked as shared") {
  simulated_gpu gpu(9);
  double other = 0;
  for (int i = 0; i < 3000; ++i) {
    gpu.run_at("left", gpu.now_us(), 45, {9e6, 30, 0}).wait(gpu.uniform(0.5, 20));
    for (; other < gpu.now_us() - 40; other += 26 + gpu.uniform(0, 30))
      gpu.run_at("right", other, 25, {2e6, 30, 0});
  }
  auto const c = gpu.with_jitter(0.1).sampled();
  analyzed const a(c);
  auto const right = figure_of(a, "right", dram_read_metric);
  REQUIRE(right);
  CHECK(right->is_shared);
  CHECK(right->mean == within(2e6, 0.05));
}

TEST_CASE("a kernel in few samples has no figure") {
  simulated_gpu gpu(10);
  for (int i = 0; i < 1000; ++i) {
    gpu.run("often", 5, {1e6, 50, 0}).wait(gpu.uniform(1, 9));
    if (i % 300 == 0) gpu.run("rare", 5, {8e6, 50, 0});
  }
  auto const c = gpu.with_jitter(0.1).sampled();
  analyzed const a(c);
  CHECK_FALSE(figure_of(a, "rare", dram_read_metric));
  CHECK(a.sampled.facts().too_few == 1);
  CHECK(figure_of(a, "often", dram_read_metric)->mean == within(1e6, 0.05));
}

TEST_CASE("kernels beyond the number that can be separated are reported as too many") {
  simulated_gpu gpu(13);
  for (int i = 0; i < 20; ++i)
    for (int k = 0; k < 340; ++k) {
      gpu.run(numbered("k", k), k < 4 ? 30 : 15, {1e6, 50, 0});
      gpu.wait(gpu.uniform(0.5, 2));  // no sample holds one of them alone
    }
  auto const c = gpu.with_jitter(0.1).sampled();
  analyzed const a(c);
  auto const& facts = a.sampled.facts();
  CHECK(facts.too_many == 40);
  CHECK(facts.too_few == 0);
  CHECK(figure_of(a, "k0", clock_metric));
}

TEST_CASE("a metric that was sampled in other windows than the rest has figures of its own") {
  // Long kernels are alone while bytes are sampled, and follow short ones while cycles are.
  simulated_gpu gpu(14);
  for (int i = 0; i < 100; ++i) gpu.run("long", 150, {3e7, 50, 2e4}).wait(gpu.uniform(30, 60));
  auto const half = gpu.now_us();
  for (int i = 0; i < 1500; ++i) {
    auto const start = gpu.now_us();
    gpu.run("long", 150, {3e7, 50, 2e4});
    gpu.run_at("beside", start + gpu.uniform(0, 140), 9, {0, 0, 3e3}).wait(gpu.uniform(1, 20));
  }
  auto c = gpu.with_jitter(0.1).sampled();
  std::erase_if(c.rows, [&](sample_record const& row) {
    auto const is_late =
        row.start > trace_start + duration_ns{static_cast<std::int64_t>(half * 1e3)};
    return is_late == (row.metric == c.metrics[0].metric);  // the first is of bytes
  });
  analyzed const a(c);
  REQUIRE(figure_of(a, "long", dram_read_metric));
  CHECK(figure_of(a, "long", dram_read_metric)->mean == within(3e7, 0.02));
  REQUIRE(figure_of(a, "long", tensor_cycles_metric));
  CHECK(figure_of(a, "long", tensor_cycles_metric)->mean == within(2e4, 0.05));
}

TEST_CASE("windows that begin and end inside kernels do no harm") {
  auto c = steps(11, 8000).sampled();
  // Half a millisecond of each whole one.
  std::erase_if(c.rows, [](sample_record const& row) {
    return (row.start.value - trace_start.value) % 1'000'000 >= 500'000;
  });
  analyzed const a(c);
  for (auto const* const name : {"gelu", "reduce", "gemm_large"}) {
    auto const bytes = figure_of(a, name, dram_read_metric);
    INFO(name);
    REQUIRE(bytes);
    CHECK(bytes->mean == within(kernels_of_a_step.at(name).load.bytes, 0.05));
  }
}

TEST_CASE("attribution of many workloads and samples takes only seconds", "[many trials]") {
  sample_attribution sampled;
  constexpr std::uint32_t metrics = 10, workloads = 200, samples = 200'000;
  for (std::uint32_t m = 0; m < metrics; ++m) {
    metric_record metric;
    metric.metric = static_cast<metric_id>(m + 1);
    metric.sampled = true;
    sampled.define(metric, numbered("dram__bytes_", static_cast<int>(m)) + ".sum");
  }
  std::mt19937_64 random(1);
  std::vector<double> counts(samples);
  std::vector<kernel_record> kernels;
  std::uint64_t now = 0;
  while (now < std::uint64_t{samples} * 20'000 - 100'000) {
    kernel_record kernel;
    auto const workload = random() % workloads;
    kernel.start = trace_start + duration_ns{static_cast<std::int64_t>(now)};
    kernel.duration = {static_cast<std::int64_t>(2000 + workload * 100)};
    kernel.shape = static_cast<shape_id>(workload + 1);
    for (auto at = now; at < now + static_cast<std::uint64_t>(kernel.duration.value);) {
      auto const end = std::min((at / 20'000 + 1) * 20'000,
                                now + static_cast<std::uint64_t>(kernel.duration.value));
      counts[at / 20'000] += static_cast<double>((end - at) * (workload + 1));
      at = end;
    }
    now += static_cast<std::uint64_t>(kernel.duration.value) + random() % 3000;
    kernels.push_back(kernel);
  }
  auto const begin = std::chrono::steady_clock::now();
  for (std::uint32_t m = 0; m < metrics; ++m)
    for (std::uint32_t s = 0; s < samples; ++s)
      sampled.add({static_cast<metric_id>(m + 1), trace_start + duration_ns{s * 20'000},
                   duration_ns{20'000}, counts[s] * (1 + m)});
  sampled.end_samples();
  for (auto const& kernel : kernels) sampled.see(kernel, {{}, kernel.shape, {}});
  sampled.attribute();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  std::cout << workloads << " workloads, " << kernels.size() << " launches, " << samples
            << " samples of " << metrics << " metrics: " << took.count() << " s\n";
  auto const* const figure =
      sampled.figures().find({{}, static_cast<shape_id>(101), {}}, "dram__bytes_2.sum");
  REQUIRE(figure != nullptr);
  CHECK(figure->mean == within(3.0 * 12'000 * 101, 0.01));
}
