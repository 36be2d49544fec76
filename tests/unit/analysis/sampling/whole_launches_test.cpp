// SPDX-License-Identifier: Apache-2.0
// Launches between work without tensor instructions: samples hold their tensor cycles exactly.
#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <cmath>
#include <iostream>
#include <map>
#include <set>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

/// Adds machine code: only these kernels have tensor instructions.
counted_trace with_codes(counted_trace c, std::set<std::string> const& with_tensor) {
  for (auto const& shape : c.t.shapes) {
    kernel_code code;
    code.is_complete = true;
    if (with_tensor.contains(std::string(c.t.names.text(shape.name))))
      code.holds.insert(instruction_class::wgmma_bf16);
    c.codes.push_back(record_of(shape.name, code));
  }
  return c;
}

workload_figure cycles_of(analyzed const& a, std::string const& kernel) {
  auto const found = figure_of(a, kernel, tensor_cycles_metric);
  REQUIRE(found);
  return *found;
}

simulated_gpu ramping(unsigned seed) {
  simulated_gpu gpu(seed);
  gpu.with_jitter(0.1).working_only(0.1, 0.85);
  return gpu;
}

}  // namespace

TEST_CASE("launches between kernels without tensor instructions have exact tensor cycles") {
  auto gpu = ramping(1);
  for (int i = 0; i < 40; ++i)
    gpu.run("gemm", gpu.uniform(48, 52), {1e6, 15, 9e4})
        .wait(0.8)
        .run("add", gpu.uniform(45, 55), {3e6, 80, 0})
        .wait(0.8);
  auto const c = with_codes(gpu.sampled(), {"gemm"});
  analyzed const a(c);
  auto const gemm = cycles_of(a, "gemm");
  CHECK(gemm.mean == within(9e4, 0.001));
  CHECK(gemm.error < 0.005 * gemm.mean);
  CHECK(gemm.source == figure_source::sampled);
  CHECK(cycles_of(a, "add").mean == 0);
}

TEST_CASE("a pair of launches is divided by what one of them counts elsewhere") {
  auto gpu = ramping(2);
  for (int i = 0; i < 40; ++i)
    gpu.run("gemm", gpu.uniform(48, 52), {1e6, 15, 9e4})
        .wait(0.8)
        .run("other", gpu.uniform(29, 31), {1e6, 15, 3e4})
        .wait(0.8)
        .run("add", gpu.uniform(45, 55), {3e6, 80, 0})
        .wait(0.8)
        .run("gemm", gpu.uniform(48, 52), {1e6, 15, 9e4})
        .wait(0.8)
        .run("add", gpu.uniform(45, 55), {3e6, 80, 0})
        .wait(0.8);
  auto const c = with_codes(gpu.sampled(), {"gemm", "other"});
  analyzed const a(c);
  CHECK(cycles_of(a, "gemm").mean == within(9e4, 0.001));
  CHECK(cycles_of(a, "other").mean == within(3e4, 0.003));
}

TEST_CASE("what kernels without tensor instructions add is not given to their neighbors") {
  simulated_gpu gpu(3);
  gpu.with_jitter(0.1).working_only(0.02, 0.98);
  for (int i = 0; i < 60; ++i)
    gpu.run("gemm", gpu.uniform(48, 52), {1e6, 15, 9e4})
        .wait(0.8)
        .run("gelu", gpu.uniform(58, 62), {3e6, 80, 6e3})  // HFMA2.MMA
        .wait(0.8);
  auto const c = with_codes(gpu.sampled(), {"gemm"});
  analyzed const a(c);
  auto const gemm = cycles_of(a, "gemm");
  INFO(gemm.mean << " +- " << gemm.error);
  CHECK(gemm.mean == within(9e4, 0.01));
  CHECK(std::abs(gemm.mean - 9e4) < 2 * gemm.error);
  CHECK(cycles_of(a, "gelu").mean == 0);
}

TEST_CASE("two problems of one kernel and similar length do not falsify their neighbors") {
  // "mixed" counts 6e4 behind "first" and 9e4 behind "second".
  auto gpu = ramping(4);
  for (int i = 0; i < 60; ++i)
    for (bool const is_first : {true, false})
      gpu.run(is_first ? "first" : "second", gpu.uniform(48, 52), {1e6, 15, 8e4})
          .wait(0.8)
          .run("mixed", (is_first ? 42 : 56) * gpu.uniform(0.98, 1.02),
               {1e6, 15, is_first ? 6e4 : 9e4})
          .wait(0.8)
          .run("add", gpu.uniform(45, 55), {3e6, 80, 0})
          .wait(0.8);
  auto const c = with_codes(gpu.sampled(), {"first", "second", "mixed"});
  analyzed const a(c);
  for (auto const& [name, cycles] : {std::pair{"first", 8e4}, {"second", 8e4}, {"mixed", 7.5e4}}) {
    auto const found = cycles_of(a, name);
    INFO(name << ": " << found.mean << " +- " << found.error);
    CHECK(std::abs(found.mean - cycles) < 2 * found.error);
  }
}

TEST_CASE("two stated errors hold the tensor cycles of 95 % of the figures", "[many trials]") {
  std::size_t all = 0, inside = 0;
  double worst = 0, errors = 0;
  for (unsigned seed = 300; seed < 320; ++seed) {
    simulated_gpu gpu(seed);
    gpu.with_jitter(0.1).with_variation(0.002).working_only(gpu.uniform(0, 0.15),
                                                            gpu.uniform(0.8, 1));
    // Products in fixed pairs, as layers launch them; what follows a pair varies.
    constexpr int pairs = 5;
    std::map<std::string, work_load> products;
    std::map<std::string, double> us;
    std::set<std::string> names;
    for (int k = 0; k < 2 * pairs; ++k) {
      auto const name = numbered("product", k);
      us[name] = gpu.uniform(15, 90);
      products[name] = {1e6, 15, us[name] * gpu.uniform(1e3, 2e3)};
      names.insert(name);
    }
    for (int i = 0; i < 150; ++i) {
      auto const pair = gpu.one_of(pairs);
      for (auto const k : {2 * pair, 2 * pair + 1}) {
        auto const name = numbered("product", k);
        gpu.run(name, us[name] * gpu.uniform(0.98, 1.02), products[name]).wait(0.8);
      }
      if (gpu.toss(0.8)) gpu.run("add", gpu.uniform(45, 55), {3e6, 80, 0}).wait(0.8);
      if (gpu.toss(0.5)) gpu.run("gelu", gpu.uniform(28, 32), {3e6, 80, 1.5e3}).wait(0.8);
    }
    auto const c = with_codes(gpu.sampled(), names);
    analyzed const a(c);
    for (auto const& [name, load] : products) {
      auto const found = figure_of(a, name, tensor_cycles_metric);
      if (!found) continue;
      auto const off = std::abs(found->mean - load.tensor_cycles);
      ++all;
      inside += off <= 2 * found->error;
      errors += found->error / found->mean;
      worst = std::max(worst, off / load.tensor_cycles);
    }
  }
  std::cout << "tensor cycles of pairs: within 2 errors " << inside << " of " << all << "; at most "
            << worst * 100 << " % off, mean error " << errors / static_cast<double>(all) * 100
            << " %\n";
  CHECK(all >= 190);
  CHECK(static_cast<double>(inside) >= 0.95 * static_cast<double>(all));
  CHECK(worst < 0.05);
  CHECK(errors < 0.02 * static_cast<double>(all));
}
