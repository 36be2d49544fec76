// SPDX-License-Identifier: Apache-2.0
// Facts of a made run: one GPU, a window of a second, one hundred steps of 10 ms.
#pragma once

#include "host/advice/advice.hpp"
#include "unit/advice/arithmetic.hpp"

#include <map>
#include <string>

namespace gpuprof::host::advice {
using namespace host;

inline constexpr double us = 1e3, ms = 1e6;

inline data_set everything() {
  auto all = data_set(data::kernels);
  for (auto bit = 2; bit <= static_cast<int>(data::declared); bit *= 2)
    all = all | static_cast<data>(bit);
  return all;
}

/// Compute for `busy`, the rest of the window in `idle`.
inline run_facts made_run(double busy, time_bucket idle, double launching_thread = 0) {
  run_facts facts;
  facts.window_ns = 1000 * ms;
  facts.there = everything();
  facts.run = {.start_delay = 6 * us, .back_to_back = 1 * us, .delay_is_measured = true};
  facts.own_ns_a_launch = 0;
  facts.steps.name = "step";
  facts.steps.period_ns.assign(100, 10 * ms);
  facts.steps.busy_ns = busy;
  facts.steps.launching_thread_ns = launching_thread;
  auto& device = facts.devices.emplace_back();
  device.ledger[time_bucket::compute] = busy;
  device.ledger[idle] = facts.window_ns - busy;
  device.peak = [](std::string_view test) -> std::optional<double> {
    static std::map<std::string_view, double> const peaks = {{"h2d", 50e9},
                                                             {"d2h", 50e9},
                                                             {"p2p", 100e9},
                                                             {"graph_node", 5e-7},
                                                             {"launch_latency", 6e-6},
                                                             {"launch_throughput", 2e-6}};
    auto const found = peaks.find(test);
    return found == peaks.end() ? std::nullopt : std::optional(found->second);
  };
  return facts;
}

inline gap_facts gaps(time_bucket cause, std::uint64_t count, double idle, double sure = 0) {
  gap_facts line;
  line.cause = cause;
  line.count = count;
  line.idle_ns = idle;
  line.sure_ns = sure;
  line.range = "forward";
  return line;
}

inline gap_facts waits(std::string call, std::uint64_t count, double idle, double sure = 0) {
  auto line = gaps(time_bucket::synchronization, count, idle, sure);
  line.call = std::move(call);
  line.kind = call_kind::synchronize;
  return line;
}

/// What that rule alone finds, above 1 % of the window.
inline std::vector<finding> found_by(std::string const& rule, run_facts const& facts) {
  auto found = give_advice(facts, {.only = {rule}, .skipped = {}}).findings;
  for (auto const& one : found) test::check_arithmetic(one);
  return found;
}

}  // namespace gpuprof::host::advice
