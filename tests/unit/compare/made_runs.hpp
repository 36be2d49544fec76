// SPDX-License-Identifier: Apache-2.0
// Digests of runs with the noise that real ones have, always the same for a seed.
#pragma once

#include "host/compare/run_digest.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace gpuprof {
using namespace host;

struct made_program {
  int kernels = 20;
  int steps = 200;
  double run_drift = 0.025;     // the clock of a run: up to so much slower or faster
  double kernel_drift = 0.003;  // a standard deviation, of one kernel between runs
  double kernel_ns = 20e3;      // the shortest; the longest takes seven times as long
  double start_drift_ns = 0;    // of each kernel between runs: starting and ending it
  double host_drift = 0.01;     // likewise of the CPU's part of a step
  double slowed = 1;            // the kernel named "kernel_3"
  double clock = 1;             // of all kernels that depend on it
  bool knows_clock = false;
  double clock_error = 0;  // as a share: samples tell the clock of each kernel so well
  bool some_are_dram_bound = false;
};

inline compare::kernel_key kernel_named(std::string name, std::uint32_t blocks = 4) {
  return {std::move(name), {blocks, 1, 1}, {256, 1, 1}};
}

/// Each launch differs by some per cent; one in a hundred is held up for three to ten times as
/// long; the GPU's speed wanders by half a per cent during the run.
inline compare::run_digest made_run(made_program const& of, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  auto const slower = 1 + of.run_drift * (2 * uniform(random) - 1);
  compare::run_digest run;
  run.path = "made-" + std::to_string(seed);
  run.program = "/bin/made";
  run.gpus = {"NVIDIA H100"};
  run.uuids = {"GPU-1"};
  auto& step = run.step.emplace();
  step.name = "step";
  auto const host = std::exp(of.host_drift * normal(random));
  std::vector<double> usual;
  std::vector<compare::kernel_line*> lines;
  for (int i = 0; i < of.kernels; ++i) {
    auto& line = run.kernels[kernel_named("kernel_" + std::to_string(i))];
    auto const is_dram_bound = of.some_are_dram_bound && i % 2 == 0;
    auto const clock_factor = is_dram_bound ? 1 : slower / of.clock;
    usual.push_back(of.kernel_ns * (1 + i % 7) * clock_factor * (i == 3 ? of.slowed : 1) *
                    std::exp(of.kernel_drift * normal(random)));
    if (of.start_drift_ns > 0) usual.back() += of.start_drift_ns * normal(random);
    line.bound.what = is_dram_bound ? bound_by::kind::dram : bound_by::kind::compute;
    if (of.knows_clock) line.clock = 1.8e9 * of.clock / slower;
    if (of.clock_error > 0) {
      line.clock_error = of.clock_error * *line.clock;
      *line.clock *= 1 + of.clock_error * normal(random);
    }
    line.predecessor = i > 0 ? "kernel_" + std::to_string(i - 1) : "";
    lines.push_back(&line);
  }
  double wander = 0;
  for (int i = 0; i < of.steps; ++i) {
    wander = 0.98 * wander + 0.001 * normal(random);
    double gpu = 0;
    for (std::size_t k = 0; k < lines.size(); ++k)
      for (std::size_t launch = 0; launch < 1 + k % 3; ++launch) {
        auto ns = usual[k] * (1 + wander) * (1 + 0.02 * normal(random));
        if (uniform(random) < 0.01) ns *= 3 + 7 * uniform(random);
        lines[k]->durations.add(ns);
        gpu += ns;
      }
    auto const cpu = 1e6 * host * (1 + 0.1 * uniform(random)) * (i % 50 == 7 ? 5 : 1);
    step.of.gpu.add(gpu);
    step.of.durations.add(gpu + cpu);
    run.ranges["forward"].durations.add(0.4 * (gpu + cpu));
    run.ranges["forward"].gpu.add(0.4 * gpu);
    run.kernel_ns += static_cast<std::uint64_t>(gpu);
  }
  step.count = static_cast<std::uint64_t>(of.steps);
  for (auto* line : lines) line->durations.finish();
  for (auto* range : {&step.of, &run.ranges["forward"]}) {
    range->durations.finish();
    range->gpu.finish();
  }
  return run;
}

inline std::vector<compare::run_digest> made_runs(made_program const& of, unsigned seed,
                                                  unsigned count) {
  std::vector<compare::run_digest> runs;
  for (unsigned i = 0; i < count; ++i) runs.push_back(made_run(of, seed * 1000 + i));
  return runs;
}

}  // namespace gpuprof
