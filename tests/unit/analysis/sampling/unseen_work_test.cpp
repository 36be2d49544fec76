// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/sample_attribution.hpp"
#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

/// A tenth of the time is the program's own.
simulated_gpu half_idle() {
  simulated_gpu gpu;
  for (int i = 0; i < 20; ++i) gpu.run("own", 100, {1e6, 50, 0}).wait(900);
  return gpu;
}

double unseen_in(simulated_gpu& gpu) {
  auto const trace = gpu.sampled();
  return analyzed(trace).sampled.facts().unseen;
}

}  // namespace

TEST_CASE("the GPU of a single program shows no activity while the program is idle") {
  auto gpu = half_idle();
  CHECK(unseen_in(gpu) == 0);
}

TEST_CASE("work of another program shows in the samples") {
  auto gpu = half_idle();
  for (int i = 0; i < 20; ++i) gpu.run_unseen_at(i * 1000 + 400, 90, {1e6, 50, 0});
  // 90 us of the 820 that lie a sample away from the program's own work.
  CHECK(unseen_in(gpu) == Approx(0.11).epsilon(0.1));
}

TEST_CASE("a GPU that is never idle shows nothing about other programs") {
  simulated_gpu gpu;
  for (int i = 0; i < 100; ++i) gpu.run("own", 100, {1e6, 50, 0});
  gpu.run_unseen_at(2000, 5000, {1e6, 50, 0});
  CHECK(unseen_in(gpu) == 0);
}
