// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/idle_moments.hpp"

#include "base/futex.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t max_wait_for_answer_ns = 1 * ns_per_ms;
constexpr std::uint64_t look_again_ns = 20 * ns_per_ms;  // interval of interruption checks

void rest_for_moment() noexcept {
  std::this_thread::sleep_for(std::chrono::microseconds(10));
}

}  // namespace

// The thread waits here until the gate is shut, so that it launches nothing between its wait and
// that.
std::uint64_t idle_moments::program_has_waited() noexcept {
  if (!hopes_.load()) return 0;
  auto const seen = answered_.load();
  auto const began = monotonic_ns();
  moments_.fetch_add(1);
  futex_wake(moments_);
  for (auto moment = began; hopes_.load() && answered_.load() == seen;) {
    if (moment >= began + max_wait_for_answer_ns) break;
    futex_wait(answered_, seen, began + max_wait_for_answer_ns - moment);
    moment = monotonic_ns();
  }
  return monotonic_ns() - began;
}

/// Called with the gate open; shuts it before it returns. True if the program has just waited for
/// the GPU.
bool idle_moments::hope(std::uint64_t patience_ns) noexcept {
  auto const deadline = monotonic_ns() + patience_ns;
  auto const seen = moments_.load();
  hopes_.store(true);
  for (auto moment = monotonic_ns(); moments_.load() == seen && moment < deadline;) {
    if (is_interrupted_()) break;
    futex_wait(moments_, seen, std::min(deadline - moment, look_again_ns));
    moment = monotonic_ns();
  }
  gate_.shut();
  hopes_.store(false);
  answered_.fetch_add(1);
  futex_wake(answered_);
  return moments_.load() != seen;
}

bool idle_moments::is_idle_and_held(context_streams& streams) noexcept {
  auto const impatient = gate_.impatient();
  if (!gate_.hold()) return false;
  // After the gate is held: a capture that begins now waits for it.
  if (!captures_.any() && streams.are_idle()) {
    impatient_at_idle_ = impatient;
    return true;
  }
  gate_.relax();
  return false;
}

bool idle_moments::reach(context_streams& streams, std::uint64_t patience_ns) noexcept {
  auto const deadline = monotonic_ns() + patience_ns;
  for (;;) {
    if (is_idle_and_held(streams)) return true;
    if (captures_.any() || halted_.load() || monotonic_ns() >= deadline) return false;
    rest_for_moment();
  }
}

bool idle_moments::reach_before_impatience(context_streams& streams) noexcept {
  auto const impatient = gate_.impatient();
  for (;;) {
    if (is_idle_and_held(streams)) return true;
    if (gate_.impatient() != impatient || is_interrupted_()) return false;
    rest_for_moment();
  }
}

}  // namespace gpuprof::guest
