// SPDX-License-Identifier: Apache-2.0
// Calls of one kind, after warm-up, as one line.
#pragma once

#include "host/advice/finding.hpp"
#include "host/advice/rules/idle_sum.hpp"

namespace gpuprof::advise {

struct steady_calls {
  std::uint64_t count = 0;
  double total_ns = 0;
  std::map<std::string, double> by_name, by_range;
};
steady_calls calls_of(run_facts const& facts, call_kind kind);

/// A finding on them and the idle time behind them, without gain, `what` and `to_do`.
finding behind_calls(steady_calls const& calls, idle_sum const& idle, time_bucket bucket);

}  // namespace gpuprof::advise
