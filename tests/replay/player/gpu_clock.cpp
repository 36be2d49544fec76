// SPDX-License-Identifier: Apache-2.0
#include "replay/player/gpu_clock.hpp"

#include <algorithm>

namespace gpuprof::replay {
namespace {

constexpr std::uint64_t an_hour = 3'600'000'000'000;

}  // namespace

gpu_span gpu_clock::place(std::uint32_t context, std::uint32_t stream, gpu_span recorded,
                          std::uint64_t entered, std::uint64_t entered_now) {
  if (recorded.start == 0 || recorded.end < recorded.start) return {};  // the recorder lost it
  std::lock_guard const hold(lock_);
  auto& last = last_[{context, stream}];
  auto const after_call = recorded.start > entered ? recorded.start - entered : 0;
  gpu_span now;
  now.start = entered_now + after_call;
  if (recorded.start >= last.start) now.start = std::max(now.start, last.end);
  now.end = now.start + (recorded.end - recorded.start) + (endless_ ? an_hour : 0);
  last = {std::max(last.start, recorded.end), std::max(last.end, now.end)};
  busy_until_ = std::max(busy_until_, now.end);
  return now;
}

void gpu_clock::never_finish() {
  std::lock_guard const hold(lock_);
  endless_ = true;
}

void gpu_clock::start_again() {
  std::lock_guard const hold(lock_);
  for (auto& [key, last] : last_) last.start = 0;
}

std::uint64_t gpu_clock::busy_until() const {
  std::lock_guard const hold(lock_);
  return busy_until_;
}

}  // namespace gpuprof::replay
