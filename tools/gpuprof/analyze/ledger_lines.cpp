// SPDX-License-Identifier: Apache-2.0
#include "analyze/ledger_lines.hpp"

#include "host/advice/slow_steps.hpp"
#include "host/report/summary_tables.hpp"

#include <algorithm>

namespace gpuprof {
namespace {

constexpr std::size_t max_ranges = 1000, max_steps = 10'000;

}  // namespace

void add_gpus(report::ledger& to, advise::run_facts const& facts, std::string const& rank) {
  for (auto const& device : facts.devices) {
    auto const gpu = "GPU " + std::to_string(raw(device.device));
    report::ledger_line line;
    line.label = rank.empty() ? gpu : "rank " + rank + " " + gpu;
    line.times = device.ledger;
    line.device = raw(device.device);
    line.rank = rank;
    to.gpus.push_back(std::move(line));
  }
}

void add_ranges(report::ledger& to, time_ledger const& from, text_of_name const& text) {
  auto const lines = from.by_range();
  auto const kept = std::min(lines.size(), max_ranges);
  to.more_ranges = lines.size() - kept;
  for (std::size_t i = 0; i < kept; ++i) {
    auto const& range = lines[i];
    report::ledger_line line;
    line.label = range.is_outside ? "(outside of ranges)" : report::range_name(range.range, text);
    line.times = range.inclusive;
    line.own = range.exclusive;
    to.ranges.push_back(std::move(line));
  }
}

void add_steps(report::ledger& to, time_ledger const& from, advise::step_facts const& steps) {
  auto const& all = from.by_step();
  auto const kept = std::min(all.size(), max_steps);
  to.more_steps = all.size() - kept;
  auto const slow = advise::slow_steps_of(steps);
  to.slow_beyond_ns = slow.limit_ns;
  auto const name = steps.name.empty() ? std::string("step") : steps.name;
  for (std::size_t i = 0; i < kept; ++i) {
    report::ledger_line line;
    line.label = name + " " + std::to_string(i);
    line.times = all[i];
    if (i < steps.period_ns.size()) line.period_ns = steps.period_ns[i];
    line.is_slow = std::binary_search(slow.which.begin(), slow.which.end(), i);
    to.steps.push_back(std::move(line));
  }
}

}  // namespace gpuprof
