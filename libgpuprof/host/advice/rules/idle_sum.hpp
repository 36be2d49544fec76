// SPDX-License-Identifier: Apache-2.0
// Sums gaps with the same cause, and calls of one kind after warm-up, into one line.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <map>
#include <string>

namespace gpuprof::host::advice {

struct idle_sum {
  std::uint64_t count = 0;
  double idle_ns = 0, sure_ns = 0;
  std::map<std::string, double> by_range, by_call;
  bool any() const noexcept { return count > 0; }
  void add(gap_facts const& gap) {
    count += gap.count;
    idle_ns += gap.idle_ns;
    sure_ns += gap.sure_ns;
    by_range[gap.range] += gap.idle_ns;
    by_call[gap.call] += gap.idle_ns;
  }
};

/// All idle time of all GPUs, whatever its cause.
double idle_of_gpus(run_facts const& facts);

/// Sums the gaps for which passes(gap) is true.
template <class Passes>
idle_sum idle_of(run_facts const& facts, Passes passes) {
  idle_sum sum;
  for (auto const& gap : facts.gaps)
    if (passes(gap)) sum.add(gap);
  return sum;
}

/// Returns the name that has more than half of the time. Empty: none has.
std::string majority(std::map<std::string, double> const& times);

/// The sum of all calls of one kind after warm-up.
struct steady_calls {
  std::uint64_t count = 0;
  double total_ns = 0;
  std::map<std::string, double> by_name, by_range;
};
steady_calls calls_of(run_facts const& facts, call_kind kind);

/// The calls go.
stated_repair repair_without(steady_calls const& calls);

/// Returns a finding on these calls and the idle time behind them, without gain, `what` and
/// `to_do`.
finding behind_calls(steady_calls const& calls, idle_sum const& idle, time_bucket bucket);

}  // namespace gpuprof::host::advice
