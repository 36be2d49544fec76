// SPDX-License-Identifier: Apache-2.0
#include "cupti/sharing/record_clock.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof {

std::uint64_t clock_map::theirs(std::uint64_t real) const noexcept {
  if (is_identity() || real == 0) return real;
  auto const signed_difference = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(static_cast<std::int64_t>(a - b));
  };
  auto from = pairs_.front();
  double rate = 1;  // as if it counted nanoseconds
  if (pairs_.size() > 1) {
    auto const after =
        std::lower_bound(pairs_.begin() + 1, pairs_.end() - 1, real,
                         [](clock_pair const& p, std::uint64_t time) { return p.real < time; });
    from = *(after - 1);
    rate = signed_difference(after->theirs, from.theirs) /
           std::max(signed_difference(after->real, from.real), 1.0);
  }
  auto const ahead = std::llround(signed_difference(real, from.real) * rate);
  return from.theirs + static_cast<std::uint64_t>(ahead);
}

// Between two looks at ours: its middle, half of what reading theirs takes off at most.
clock_pair record_clock::read(CUpti_TimestampCallbackFunc clock) noexcept {
  clock_pair best;
  auto shortest = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    auto const before = now().value;
    auto const theirs = clock();
    auto const took = now().value - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, theirs};
  }
  return best;
}

void record_clock::is_now(CUpti_TimestampCallbackFunc clock) noexcept {
  auto const is_other = theirs_.exchange(clock, std::memory_order_acq_rel) != clock;
  if (clock == nullptr) return;
  auto const moment = read(clock);
  std::lock_guard const lock(mutex_);
  if (is_other) pairs_.clear();
  try {
    if (pairs_.empty()) pairs_.push_back(moment);
  } catch (...) {  // no memory: looked at again when records are handed on
  }
}

clock_map record_clock::map() {
  auto* const clock = theirs_.load(std::memory_order_acquire);
  if (clock == nullptr) return clock_map{};
  auto const moment = read(clock);
  std::lock_guard const lock(mutex_);
  if (pairs_.empty()) return clock_map{{moment}};
  if (moment.real < pairs_.back().real + apart_ns && pairs_.size() > 1) return clock_map{pairs_};
  if (pairs_.size() >= max_pairs) pairs_.erase(pairs_.begin(), pairs_.begin() + max_pairs / 2);
  if (moment.real > pairs_.back().real) pairs_.push_back(moment);
  return clock_map{pairs_};
}

}  // namespace gpuprof
