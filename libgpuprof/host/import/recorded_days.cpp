// SPDX-License-Identifier: Apache-2.0
#include "host/import/recorded_days.hpp"

namespace gpuprof::host {

void recorded_days::settle() {
  std::int64_t day = 0;
  std::uint64_t most = 0;
  for (auto const& [candidate, count] : counts_) {
    // If two days have equally many moments, the later one wins: damaged times are often 0.
    if (count < most || (count == most && candidate < day)) continue;
    day = candidate;
    most = count;
  }
  constexpr auto all_days = std::numeric_limits<std::int64_t>::max() / day_ns;
  constexpr auto around = longest_ns / day_ns;
  first_ = std::max(day - around, -all_days) * day_ns;
  last_ = std::min(day + around, all_days) * day_ns;
}

}  // namespace gpuprof::host
