// SPDX-License-Identifier: Apache-2.0
// What samples say in which launches of one kernel ran and nothing else.
#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <cmath>

using namespace gpuprof;
using namespace gpuprof::test;

TEST_CASE("a small kernel has figures from samples that it does not share") {
  simulated_gpu gpu(1);
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 4; ++k)
      gpu.run("large", gpu.uniform(9, 11), {gpu.uniform(1e7, 9e7), 60, 0})
          .run("small", 2, {1e4, 20, 0});
    gpu.wait(gpu.uniform(40, 60)).run("small", 2, {1e4, 20, 0}).wait(gpu.uniform(40, 60));
  }
  auto const c = gpu.with_jitter(0.1).with_idle_rate(20).sampled();
  analyzed const a(c);
  auto const bytes = figure_of(a, "small", dram_read_metric);
  REQUIRE(bytes);
  CHECK(bytes->source == figure_source::sampled);
  CHECK(bytes->mean == within(1e4, 0.05));
  CHECK(std::abs(bytes->mean - 1e4) < 3 * bytes->error);
  CHECK(figure_of(a, "small", occupancy_metric)->mean == within(20, 0.05));
}

TEST_CASE("a long launch that samples cover in part has a large error") {
  simulated_gpu gpu(2);
  gpu.run("before", 500, {1e8, 30, 0}).run("long", 3000, {6e9, 40, 9e5});
  auto const c = gpu.sampled(20, 1000, 1800);
  analyzed const a(c);
  auto const bytes = figure_of(a, "long", dram_read_metric);
  REQUIRE(bytes);
  CHECK(bytes->mean == within(6e9, 0.02));
  CHECK(bytes->error > 0.1 * bytes->mean);
  CHECK(figure_of(a, "long", occupancy_metric)->mean == within(40, 0.02));
}

TEST_CASE("a few launches longer than a sample have figures") {
  simulated_gpu gpu(3);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 20; ++k)
      gpu.run(numbered("k", k), 45, {1e6 * (k + 1), 50, 0}).wait(gpu.uniform(0.5, 3));
  auto const c = gpu.with_jitter(0.1).with_variation(0.02).sampled();
  analyzed const a(c);
  for (int k = 0; k < 20; ++k) {
    auto const bytes = figure_of(a, numbered("k", k), dram_read_metric);
    INFO(k);
    REQUIRE(bytes);
    CHECK(std::abs(bytes->mean - 1e6 * (k + 1)) < 3 * bytes->error);
  }
}

TEST_CASE("a short kernel that ran alone only three times has no figure") {
  simulated_gpu gpu(4);
  for (int i = 0; i < 3; ++i) gpu.wait(100).run("rare", 5, {8e6, 50, 0}).wait(100);
  auto const c = gpu.sampled();
  analyzed const a(c);
  CHECK_FALSE(figure_of(a, "rare", dram_read_metric));
}

TEST_CASE("samples close to other work are left to the fit") {
  simulated_gpu gpu(5);
  // Each sample of "small" begins 100 ns after "large" ended.
  for (int i = 0; i < 100; ++i)
    gpu.run("large", 19.9, {1e8, 60, 0}).wait(2.1).run("small", 2, {1e4, 20, 0}).wait(16);
  auto const c = gpu.sampled();
  analyzed const a(c);
  auto const bytes = figure_of(a, "small", dram_read_metric);
  CHECK((!bytes || bytes->source == figure_source::fitted));
}
