// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <cmath>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

/// `times` launches of 200 to 240 us with pauses.
simulated_gpu alone(int times) {
  simulated_gpu gpu(3);
  for (int i = 0; i < times; ++i) gpu.wait(gpu.uniform(50, 90)).run("gemm", 220, {5e8, 25, 1e5});
  return gpu.with_jitter(0.1);
}

}  // namespace

TEST_CASE("a kernel alone on the GPU gets all counts of its time") {
  auto const c = alone(10).sampled();
  analyzed const a(c);
  auto const bytes = figure_of(a, "gemm", dram_read_metric);
  REQUIRE(bytes);
  CHECK(bytes->mean == within(5e8, 0.001));
  CHECK(bytes->source == figure_source::sampled);
  CHECK(bytes->count == 10);
  CHECK_FALSE(bytes->is_shared);
  CHECK(figure_of(a, "gemm", tensor_cycles_metric)->mean == within(1e5, 0.001));
  CHECK(figure_of(a, "gemm", active_cycles_metric)->mean ==
        within(220e-6 * simulated_clock, 0.002));
  CHECK(figure_of(a, "gemm", occupancy_metric)->mean == within(25, 0.001));
  CHECK(figure_of(a, "gemm", clock_metric)->mean == within(simulated_clock, 0.001));
}

TEST_CASE("consecutive kernels of ten intervals are separated within 1 %") {
  simulated_gpu gpu(4);
  for (int i = 0; i < 40; ++i) {
    gpu.run("read", gpu.uniform(200, 220), {8e8, 60, 0});
    gpu.run("gemm", gpu.uniform(300, 330), {1e8, 20, 4e5});
    gpu.run("idle", gpu.uniform(210, 230), {0, 5, 0});
  }
  auto const c = gpu.with_jitter(0.1).sampled();
  analyzed const a(c);
  CHECK(figure_of(a, "read", dram_read_metric)->mean == within(8e8, 0.01));
  CHECK(figure_of(a, "gemm", dram_read_metric)->mean == within(1e8, 0.01));
  CHECK(figure_of(a, "gemm", tensor_cycles_metric)->mean == within(4e5, 0.01));
  CHECK(figure_of(a, "idle", dram_read_metric)->mean < 0.01 * 8e8);
  CHECK(figure_of(a, "read", occupancy_metric)->mean == within(60, 0.01));
  CHECK(figure_of(a, "idle", occupancy_metric)->mean == within(5, 0.03));
  for (auto const* const kernel : {"read", "gemm", "idle"}) {
    auto const bytes = figure_of(a, kernel, dram_read_metric);
    auto const truth = kernel == std::string("read")   ? 8e8
                       : kernel == std::string("gemm") ? 1e8
                                                       : 0;
    INFO(kernel << " " << bytes->mean << " +- " << bytes->error);
    CHECK(std::abs(bytes->mean - truth) <= 2 * bytes->error + 1e-3 * truth);
  }
}

TEST_CASE("kernels that are idle at their edges get no more than their samples hold") {
  simulated_gpu gpu(5);
  auto const run = [&](char const* name, double us, double cycles) {
    auto const start = gpu.now_us();
    gpu.run_unseen_at(start + 3, us - 6, {0, 0, cycles});  // all it does
    gpu.run(name, us, {0, 20, 0});
  };
  for (int i = 0; i < 100; ++i) {
    run("many", gpu.uniform(240, 250), 4e5);
    run("few", gpu.uniform(300, 310), 2e5);
  }
  auto const c = gpu.with_jitter(0.1).sampled();
  analyzed const a(c);
  auto const many = figure_of(a, "many", tensor_cycles_metric)->mean;
  auto const few = figure_of(a, "few", tensor_cycles_metric)->mean;
  CHECK(many == within(4e5, 0.006));
  CHECK(few == within(2e5, 0.012));
  CHECK(many + few == within(6e5, 0.002));
}

TEST_CASE("a single launch with shared edges has a large error") {
  simulated_gpu gpu;
  gpu.run("before", 105, {1e8, 50, 0}).run("k", 110, {4e8, 50, 0}).run("after", 105, {0, 50, 0});
  auto const c = gpu.sampled();
  analyzed const a(c);
  auto const bytes = figure_of(a, "k", dram_read_metric);
  REQUIRE(bytes);
  CHECK(bytes->count == 1);
  CHECK(bytes->error > 0.001 * 4e8);
  CHECK(std::abs(bytes->mean - 4e8) <= 2 * bytes->error);
}

TEST_CASE("launches that lie in a gap of the samples, or beyond their end, are left out") {
  auto c = alone(10).sampled(20, 0, 1000);
  auto const whole = figure_of(analyzed(c), "gemm", dram_read_metric);
  REQUIRE(whole);
  CHECK(whole->count < 10);
  CHECK(whole->mean == within(5e8, 0.001));
  // Samples are missing in the middle of the first launch.
  auto const first = c.t.kernels.front().start;
  std::erase_if(c.rows, [&](sample_record const& row) {
    return row.start > first + 80_us && row.start < first + 140_us;
  });
  auto const left = figure_of(analyzed(c), "gemm", dram_read_metric);
  REQUIRE(left);
  CHECK(left->count == whole->count - 1);
  CHECK(left->mean == within(5e8, 0.001));
}

TEST_CASE("one missing value removes the launch only from that metric") {
  auto c = alone(5).sampled();
  auto const at = c.t.kernels.front().start + 100_us;
  for (auto& row : c.rows)
    if (row.metric == c.metrics[0].metric && row.start <= at && at < row.start + row.duration)
      row.value = std::nan("");
  analyzed const a(c);
  CHECK(figure_of(a, "gemm", dram_read_metric)->count == 4);
  CHECK(figure_of(a, "gemm", tensor_cycles_metric)->count == 5);
}

TEST_CASE("a missing value at a shared edge also removes the launch") {
  simulated_gpu gpu;
  for (int i = 0; i < 4; ++i) gpu.run("k", 205, {1e8, 50, 0});
  auto c = gpu.sampled();
  auto const at = c.t.kernels[2].start;
  for (auto& row : c.rows)
    if (row.start <= at && at < row.start + row.duration) row.value = std::nan("");
  analyzed const a(c);
  auto const bytes = figure_of(a, "k", dram_read_metric);
  REQUIRE(bytes);
  CHECK(bytes->count == 2);
  CHECK(std::isfinite(bytes->error));
}

TEST_CASE("launches with a copy or a kernel beside them are left out") {
  simulated_gpu gpu;
  for (int i = 0; i < 4; ++i) gpu.wait(50).run("k", 200, {1e8, 50, 0});
  gpu.copy_at(100, 20, 1 << 20, 1e9);
  gpu.run_at("other", 310, 5, {1e9, 5, 0});
  auto const c = gpu.sampled();
  analyzed const a(c);
  auto const bytes = figure_of(a, "k", dram_read_metric);
  REQUIRE(bytes);
  CHECK(bytes->count == 2);
  CHECK(bytes->mean == within(1e8, 0.001));
}

TEST_CASE("without samples there are no figures") {
  auto c = alone(3).sampled();
  c.rows.clear();
  analyzed const a(c);
  CHECK_FALSE(a.sampled.has_samples());
  CHECK_FALSE(figure_of(a, "gemm", dram_read_metric));
}

TEST_CASE("a single launch with its own edges has an error, even for counts of zero") {
  simulated_gpu gpu;
  gpu.wait(33).run("k", 150, {4e8, 50, 0}).wait(100).run("end", 3, {0, 0, 0});
  auto const c = gpu.sampled();
  analyzed const a(c);
  auto const bytes = figure_of(a, "k", dram_read_metric);
  REQUIRE(bytes);
  CHECK(bytes->count == 1);
  CHECK(bytes->error > 0.002 * 4e8);
  CHECK(bytes->error < 0.02 * 4e8);
  CHECK(std::abs(bytes->mean - 4e8) <= bytes->error);
  CHECK(figure_of(a, "k", occupancy_metric)->error > 0);
}

TEST_CASE("long launches of a workload do not stand for short ones") {
  simulated_gpu gpu(3);
  double bytes = 0;
  int launches = 0;
  for (int i = 0; i < 2000; ++i) {
    auto const us = gpu.toss(0.2) ? 1000 : 5;
    bytes += us * 1e6;
    ++launches;
    gpu.wait(gpu.uniform(1, 30)).run("grid_stride", us, {us * 1e6, 50, 0});
    gpu.wait(gpu.uniform(1, 30)).run("other", 12, {1e6, 50, 0});
  }
  auto const c = gpu.with_jitter(0.1).sampled();
  analyzed const a(c);
  auto const found = figure_of(a, "grid_stride", dram_read_metric);
  REQUIRE(found);
  INFO(found->mean << " +- " << found->error << ", truly " << bytes / launches);
  CHECK(found->mean == within(bytes / launches, 0.02));
  CHECK(std::abs(found->mean - bytes / launches) <= 2 * found->error);
  CHECK(found->error < 0.1 * found->mean);
  CHECK(figure_of(a, "grid_stride", occupancy_metric)->mean == within(50, 0.02));
}

TEST_CASE("launches slowed by other work beside them do not change the figure") {
  // Both read the same; beside a copy it takes four times as long.
  simulated_gpu gpu(5);
  for (int i = 0; i < 1500; ++i) {
    gpu.wait(gpu.uniform(1, 30));
    bool const is_slow = gpu.toss(0.3);
    if (is_slow) gpu.copy_at(gpu.now_us() + 10, 100, 1 << 20, 1e6);
    gpu.run("k", is_slow ? 240 : 60, {4e7, 50, 0});
  }
  auto const c = gpu.with_jitter(0.1).sampled();
  analyzed const a(c);
  auto const found = figure_of(a, "k", dram_read_metric);
  REQUIRE(found);
  INFO(found->mean << " +- " << found->error);
  CHECK(found->mean == within(4e7, 0.02));
  CHECK(std::abs(found->mean - 4e7) <= 3 * found->error);
}
