#include "counters/launches/record_pause.hpp"

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>
#include <thread>

namespace gpuprof {
namespace {

// Not longer: the launch that is being read may wait for that of the other thread.
constexpr std::uint64_t most_hold_ns = 10'000'000;

struct state_of_thread {
  bool in_call = false, has_pause = false;
};
constinit thread_local state_of_thread here __attribute__((tls_model("initial-exec")));

}  // namespace

void record_pause::call_begins() noexcept {
  if (!std::exchange(here.in_call, true)) calls_.fetch_add(1);
  if (pauses_.load() == 0) return;
  auto const deadline = monotonic_ns() + most_hold_ns;
  while (pauses_.load() != 0 && monotonic_ns() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(20));
}

void record_pause::call_ends() noexcept {
  if (std::exchange(here.in_call, false)) calls_.fetch_sub(1);
}

// Whoever comes later sees the first and waits; whoever came before is seen by the second.
bool record_pause::begin() noexcept {
  pauses_.fetch_add(1);
  if (calls_.load() <= 1 && pause_()) return here.has_pause = true;
  pauses_.fetch_sub(1);
  return false;
}

void record_pause::end() noexcept {
  if (!std::exchange(here.has_pause, false)) return;
  resume_();
  pauses_.fetch_sub(1);
}

bool record_pause::is_mine() const noexcept {
  return here.has_pause;
}

}  // namespace gpuprof
