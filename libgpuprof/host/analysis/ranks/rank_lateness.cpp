// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/ranks/rank_lateness.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace gpuprof {
namespace {

constexpr double late_share = 0.02;  // of a step

std::int64_t first_start(std::span<collective_meeting const> meetings) noexcept {
  std::int64_t first = meetings.front().median_start;
  for (auto const& one : meetings) first = std::min(first, one.median_start);
  return first;
}

}  // namespace

std::vector<rank_lateness> lateness_of(std::span<collective_meeting const> meetings,
                                       std::size_t ranks, double step_ns) {
  std::vector<rank_lateness> of(ranks);
  if (meetings.empty() || step_ns <= 0) return of;  // some rank is last in each
  std::vector<std::set<long long>> steps(ranks), late(ranks);
  auto const first = first_start(meetings);
  for (auto const& one : meetings) {
    auto const step =
        std::llround(static_cast<double>(one.median_start - first) / std::max(step_ns, 1.0));
    auto const behind = static_cast<double>(one.last_start - one.median_start);
    for (auto const rank : one.ranks) {
      ++of[rank].collectives;
      steps[rank].insert(step);
    }
    ++of[one.last].last_in;
    of[one.last].late_ns += behind;
    if (behind >= late_share * step_ns) late[one.last].insert(step);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    of[rank].steps = steps[rank].size();
    of[rank].late_steps = late[rank].size();
  }
  return of;
}

}  // namespace gpuprof
