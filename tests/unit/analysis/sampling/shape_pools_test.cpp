// SPDX-License-Identifier: Apache-2.0
// Functions that run with many shapes, each of them seldom.
#include "host/analysis/sampling/shape_pools.hpp"

#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

kernel_shape shape(std::uint32_t id, std::uint32_t name, std::uint32_t grid) {
  kernel_shape made;
  made.id = shape_id{id};
  made.name = name_id{name};
  made.grid = {grid, 1, 1};
  made.arguments = id + 10;
  return made;
}

constexpr int shapes = 150, launches = 900;
constexpr double bytes_of_us = 1.5e6;

/// Elementwise kernels of 150 lengths and bytes, between launches of two usual kernels.
counted_trace many_shapes(unsigned seed, double spread, double* all_bytes = nullptr,
                          double sampled_us = 0) {
  simulated_gpu gpu(seed);
  gpu.with_jitter(0.1).with_variation(0.02).with_idle_rate(20);
  std::vector<double> us, bytes;
  for (int i = 0; i < shapes; ++i) {
    us.push_back(gpu.uniform(2, 12));
    bytes.push_back(us.back() * bytes_of_us * gpu.uniform(1 - spread, 1 + spread));
  }
  for (int i = 0; i < launches; ++i) {
    auto const one = static_cast<std::size_t>(gpu.one_of(shapes));
    gpu.run("elementwise " + std::to_string(one), us[one], {bytes[one], 60, 0});
    if (all_bytes != nullptr) *all_bytes += bytes[one];
    gpu.wait(gpu.uniform(0.5, 8));
    gpu.run(gpu.toss(0.5) ? "norm" : "softmax", 5, {4e6, 40, 0}).wait(gpu.uniform(0.5, 8));
  }
  auto made = gpu.sampled(20, 0, sampled_us);
  // One function with all of these shapes.
  for (auto& of : made.t.shapes) {
    if (!made.t.names.text(of.name).starts_with("elementwise")) continue;
    of.name = made.t.shapes.front().name;
    of.grid = {raw(of.id) + 100, 1, 1};
  }
  return made;
}

}  // namespace

TEST_CASE("shapes of one function and grid belong together, then those of one function") {
  std::vector<kernel_shape> all;
  for (std::uint32_t i = 1; i <= 8; ++i) all.push_back(shape(i, 1, 132));
  for (std::uint32_t i = 9; i <= 16; ++i) all.push_back(shape(i, 1, i));
  for (std::uint32_t i = 17; i <= 23; ++i) all.push_back(shape(i, 2, 132));
  auto const pools = pools_of(all);
  REQUIRE(pools.size() == 24);
  CHECK(pools[1] != no_pool);
  CHECK(pools[8] == pools[1]);
  CHECK(pools[9] != no_pool);
  CHECK(pools[9] != pools[1]);
  CHECK(pools[16] == pools[9]);
  CHECK(pools[17] == no_pool);
}

namespace {

struct sum_of_shapes {
  double known_ns = 0, ns = 0, bytes = 0, error = 0;
};

/// As the line of a kernel in the roofline adds them up.
sum_of_shapes sum_up(analyzed const& a) {
  auto const& t = a.from.t;
  std::vector<double> ns(t.shapes.size() + 1), times(t.shapes.size() + 1);
  for (auto const& k : t.kernels) {
    ns[raw(k.shape)] += static_cast<double>(k.duration.value);
    ++times[raw(k.shape)];
  }
  sum_of_shapes sum;
  for (auto const& of : t.shapes) {
    if (of.name != t.shapes.front().name) continue;
    sum.ns += ns[raw(of.id)];
    auto const found = a.figures->find({{}, of.id, {}}, dram_read_metric);
    if (!found) continue;
    sum.known_ns += ns[raw(of.id)];
    sum.bytes += times[raw(of.id)] * found->mean;
    sum.error = std::hypot(sum.error, times[raw(of.id)] * found->error);
  }
  return sum;
}

}  // namespace

TEST_CASE("a function with many shapes has figures for nearly all of its time") {
  constexpr unsigned runs = 20;
  unsigned within_two = 0;
  for (unsigned seed = 1; seed <= runs; ++seed) {
    double truth = 0;
    auto const c = many_shapes(seed, 0.2, &truth);
    analyzed const a(c);
    auto const sum = sum_up(a);
    CAPTURE(seed, sum.bytes, truth, sum.error);
    CHECK(sum.known_ns > 0.95 * sum.ns);
    CHECK(std::abs(sum.bytes - truth) < 0.06 * truth);
    CHECK(sum.error < 0.06 * truth);
    within_two += std::abs(sum.bytes - truth) < 2 * sum.error;
  }
  CHECK(within_two >= 18);
}

TEST_CASE("shapes that did not run in samples have the figures of others that take as long") {
  unsigned within_two = 0;
  constexpr unsigned runs = 10;
  for (unsigned seed = 40; seed < 40 + runs; ++seed) {
    double truth = 0;
    auto const c = many_shapes(seed, 0.2, &truth, 6000);  // a third of the run
    analyzed const a(c);
    auto const sum = sum_up(a);
    CAPTURE(seed, sum.bytes, truth, sum.error);
    CHECK(sum.known_ns > 0.95 * sum.ns);
    CHECK(std::abs(sum.bytes - truth) < 0.1 * truth);
    within_two += std::abs(sum.bytes - truth) < 2 * sum.error;
  }
  CHECK(within_two >= 8);
}

TEST_CASE("errors of single shapes hold the truth although shapes of one length differ") {
  int all = 0, within = 0;
  for (unsigned seed = 20; seed < 24; ++seed) {
    auto const c = many_shapes(seed, 0);
    analyzed const a(c);
    std::vector<double> ns(c.t.shapes.size() + 1), times(c.t.shapes.size() + 1);
    for (auto const& k : c.t.kernels) {
      ns[raw(k.shape)] += static_cast<double>(k.duration.value);
      ++times[raw(k.shape)];
    }
    for (auto const& of : c.t.shapes) {
      if (of.name != c.t.shapes.front().name) continue;
      auto const found = a.figures->find({{}, of.id, {}}, dram_read_metric);
      if (!found) continue;
      auto const truth = ns[raw(of.id)] / times[raw(of.id)] / 1000 * bytes_of_us;
      ++all;
      within += std::abs(found->mean - truth) < 2 * found->error;
    }
  }
  CHECK(all > 500);
  CHECK(within > 0.9 * all);
}
