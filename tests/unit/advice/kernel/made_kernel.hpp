// SPDX-License-Identifier: Apache-2.0
// Makes kernels and runs for tests of rules: run_of({kernel("gemm", 20_ms).at_dram(0.9)}).
#pragma once

#include "host/advice/advice.hpp"
#include "support/trace_of.hpp"
#include "unit/advice/arithmetic.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::test {
using namespace host;

/// Launches of one kernel in one geometry on an H200; the calls chain.
struct made_kernel {
  advice::kernel_facts facts;

  made_kernel with(auto change) const {
    auto copy = *this;
    change(copy.facts);
    return copy;
  }
  made_kernel launched(std::uint64_t times) const {
    return with([&](auto& f) { f.launches = times; });
  }
  made_kernel shaped(extent3 grid, extent3 block) const {
    return with([&](auto& f) { f.shape.grid = grid, f.shape.block = block; });
  }
  made_kernel using_registers(std::uint32_t count) const {
    return with([&](auto& f) { f.shape.registers_per_thread = count; });
  }
  made_kernel using_shared_memory(std::uint32_t bytes) const {
    return with([&](auto& f) { f.shape.dynamic_shared_bytes = bytes; });
  }
  made_kernel using_local_memory(std::uint32_t bytes) const {
    return with([&](auto& f) { f.shape.local_bytes_per_thread = bytes; });
  }
  made_kernel on_device(std::uint32_t number) const {
    return with([&](auto& f) { f.device = device_id{number}; });
  }
  made_kernel in_range(std::string name) const {
    return with([&](auto& f) { f.range = name; });
  }
  /// So much of its time had a queued successor.
  made_kernel followed(double share) const {
    return with([&](auto& f) { f.followed_ns = share * f.total_ns; });
  }
  made_kernel beside_others() const {
    return with([](auto& f) { f.alone_ns = 0; });
  }
  /// Shares of the roofs; the highest one is what it is bound by.
  made_kernel at_dram(double share) const { return at(dram_roof, share); }
  made_kernel at_l2(double share) const { return at(l2_roof, share); }
  made_kernel at_peak_of(precision p, double share) const {
    return at(compute_roofs + static_cast<std::size_t>(p), share);
  }
  /// FLOP per second. The total is what was added up so far.
  made_kernel computing(precision p, double rate) const {
    return with([&](auto& f) {
      f.figures.flops[static_cast<std::size_t>(p)] = rate;
      f.figures.total_flops = f.figures.total_flops.value_or(0) + rate;
    });
  }
  made_kernel with_tensor_cores_active(double share) const {
    return with([&](auto& f) { f.figures.tensor_active = share; });
  }
  made_kernel with_dram_rate(double bytes, double flop_per_byte) const {
    return with([&](auto& f) { f.figures.dram_rate = bytes, f.figures.intensity = flop_per_byte; });
  }
  made_kernel clocked(double loss) const {
    return with([&](auto& f) {
      f.figures.clock = 1.98e9 * (1 - loss);
      f.figures.clock_loss = loss;
    });
  }
  made_kernel counting(std::string const& metric, double value) const {
    return with([&](auto& f) { f.metrics[metric] = value; });
  }
  /// 132 SMs for so many cycles, and of all issue slots this share used.
  made_kernel issuing(double share, double cycles = 100'000) const {
    return counting("sm__cycles_active.avg", cycles)
        .counting("sm__cycles_active.max", cycles)
        .counting("smsp__issue_active.sum", share * 4 * 132 * cycles);
  }
  /// Of the time that warps wait; `issuing` comes first.
  made_kernel stalled(std::string const& reason, double share) const {
    auto const issued = facts.metric("smsp__issue_active.sum").value_or(0);
    return counting("smsp__warps_active.sum", issued + 1e6)
        .counting("smsp__warps_issue_stalled_" + reason + ".sum", share * 1e6);
  }

 private:
  made_kernel at(std::size_t roof, double share) const {
    return with([&](auto& f) {
      f.figures.shares[roof] = share;
      if (share <= f.figures.of_roof.value_or(-1)) return;
      f.figures.of_roof = share;
      f.figures.bound =
          share < latency_bound_below ? bound_by{bound_by::kind::latency, {}} : roof_of(roof);
    });
  }
};

/// 100 launches with one queued behind each, on a full grid.
inline made_kernel kernel_of(std::string name, duration_ns total) {
  made_kernel made;
  made.facts.name = std::move(name);
  made.facts.launches = 100;
  made.facts.total_ns = static_cast<double>(total.value);
  made.facts.alone_ns = made.facts.followed_ns = made.facts.total_ns;
  made.facts.shape.grid = {132 * 64, 1, 1};
  made.facts.shape.block = {256, 1, 1};
  made.facts.shape.registers_per_thread = 32;
  return made;
}

inline std::optional<double> h200_peak(std::string_view test) {
  std::pair<std::string_view, double> const peaks[] = {
      {"dram_read", 4e12},     {"h2d", 50e9},           {"p2p", 400e9},
      {"fp32", 60e12},         {"fp64", 30e12},         {"tensor_tf32", 400e12},
      {"tensor_fp16", 800e12}, {"tensor_bf16", 800e12}, {"tensor_fp64", 60e12}};
  for (auto const& [name, value] : peaks)
    if (name == test) return value;
  return std::nullopt;
}

inline advice::device_facts h200(std::uint32_t number = 0) {
  advice::device_facts gpu;
  gpu.device = device_id{number};
  gpu.record.compute_major = 9;
  gpu.record.sm_count = 132;
  gpu.greatest_clock = 1.98e9;
  gpu.peak = h200_peak;
  return gpu;
}

/// A window of a second with everything recorded; what kernels leave of it the CPU works.
inline advice::run_facts run_of(std::vector<made_kernel> const& kernels, std::uint32_t gpus = 1) {
  advice::run_facts run;
  run.window_ns = 1e9;
  run.there = advice::data::kernels;
  for (std::uint16_t bit = 1; bit != 0; bit = static_cast<std::uint16_t>(bit << 1))
    run.there = run.there | advice::data{bit};
  for (std::uint32_t i = 0; i < gpus; ++i) {
    auto gpu = h200(i);
    for (auto const& made : kernels)
      if (made.facts.device == gpu.device) gpu.ledger[time_bucket::compute] += made.facts.total_ns;
    gpu.ledger[time_bucket::cpu_work] = run.window_ns - gpu.ledger[time_bucket::compute];
    run.devices.push_back(std::move(gpu));
  }
  for (auto const& made : kernels) run.kernels.push_back(made.facts);
  std::stable_sort(run.kernels.begin(), run.kernels.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
  return run;
}

inline advice::run_facts launch_bound(advice::run_facts run) {
  auto& ledger = run.devices.front().ledger;
  ledger[time_bucket::launch_bound] = ledger[time_bucket::cpu_work];
  ledger[time_bucket::cpu_work] = 0;
  return run;
}

/// Nothing: the rule is silent, or what it found is below 1 % of the window.
inline std::optional<advice::finding> found_by(std::string_view rule,
                                               advice::run_facts const& run) {
  for (auto const& one : advice::give_advice(run, {}).findings) {
    check_arithmetic(one);
    if (one.rule == rule) return one;
  }
  return std::nullopt;
}

inline std::optional<advice::finding> found_by(std::string_view rule, made_kernel const& kernel) {
  return found_by(rule, run_of({kernel}));
}

}  // namespace gpuprof::test
