// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/switch_guard.hpp"

#include "base/clock.hpp"
#include "base/futex.hpp"

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t patience_with_switches_ns = 1'000'000'000;
constexpr std::uint64_t patience_with_changes_ns = 20'000'000;

// A switch may call the driver, which calls back: on the thread that would be waited for.
constinit thread_local std::uint32_t entered_here __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

// Who begins a change and who begins to switch each say so first and then look at the other.
void switch_guard::change_begins() noexcept {
  changes_.fetch_add(1);
  auto const deadline = monotonic_ns() + patience_with_switches_ns;
  while (entered_here == 0 && monotonic_ns() < deadline) {
    auto const inside = inside_.load();
    if (inside == 0) return;
    futex_wait(inside_, inside, patience_with_switches_ns / 100);
  }
}

void switch_guard::change_ended() noexcept {
  auto now = changes_.load();
  while (now > 0 && !changes_.compare_exchange_weak(now, now - 1)) {
  }
  futex_wake(changes_);
}

bool switch_guard::enter() noexcept {
  inside_.fetch_add(1);
  if (changes_.load() == 0 && !closed_.load()) {
    ++entered_here;
    return true;
  }
  inside_.fetch_sub(1);
  futex_wake(inside_);
  return false;
}

bool switch_guard::enter_soon() noexcept {
  auto const deadline = monotonic_ns() + patience_with_changes_ns;
  while (!enter()) {
    if (closed_.load() || monotonic_ns() >= deadline) return false;
    if (auto const changes = changes_.load(); changes != 0)
      futex_wait(changes_, changes, patience_with_changes_ns / 10);
  }
  return true;
}

void switch_guard::enter_at_last() noexcept {
  if (enter_soon()) return;
  inside_.fetch_add(1);
  ++entered_here;
}

void switch_guard::leave() noexcept {
  --entered_here;
  inside_.fetch_sub(1);
  futex_wake(inside_);
}

}  // namespace gpuprof::guest
