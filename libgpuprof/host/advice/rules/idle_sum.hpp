// SPDX-License-Identifier: Apache-2.0
// Lines of gaps that have a cause in common, as one line.
#pragma once

#include "host/advice/facts.hpp"

#include <map>
#include <string>

namespace gpuprof::advise {

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

/// Of the gaps for which passes(gap).
template <class Passes>
idle_sum idle_of(run_facts const& facts, Passes passes) {
  idle_sum sum;
  for (auto const& gap : facts.gaps)
    if (passes(gap)) sum.add(gap);
  return sum;
}

/// The name that has more than half of the time; empty: none has.
std::string majority(std::map<std::string, double> const& times);

}  // namespace gpuprof::advise
