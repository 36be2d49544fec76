// SPDX-License-Identifier: Apache-2.0
#include "base/fork_guard.hpp"

#include "base/futex.hpp"
#include "base/time.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <pthread.h>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::uint64_t max_wait_ns = 2'000'000'000, look_every_ns = 1'000'000;

// impatient_guards counts guards that stopped waiting for a fork in progress.
std::atomic<std::uint32_t> guards{0}, forks{0}, impatient_guards{0};

// In the order of registration.
std::array<std::atomic<void (*)()>, 8> child_handlers{};

// The number of guards on this thread, plus its fork: the program's own fork handlers may use
// guards, too.
constinit thread_local int depth __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local bool forked_in_guard __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local bool is_impatient __attribute__((tls_model("initial-exec"))) = false;

// A guard counts itself before it looks for forks, and a fork before it looks for guards, so the
// second of them sees the first. If a signal handler forks on a thread inside a guard, the fork
// does not wait.
void before_fork() {
  forks.fetch_add(1);
  auto const deadline = monotonic_ns() + max_wait_ns;
  auto inside = guards.load();
  for (; depth == 0 && inside != 0 && monotonic_ns() < deadline; inside = guards.load())
    futex_wait(guards, inside, look_every_ns);
  forked_in_guard = inside != 0;
  ++depth;
}

void in_parent() {
  --depth;
  forks.fetch_sub(1);
  futex_wake(forks);
}

void in_child() {
  --depth;
  // Not `guards`: a guard that waits for a fork counts itself for moments only, and holds nothing.
  if (impatient_guards.exchange(0) != 0) forked_in_guard = true;
  is_impatient = false;
  forks.store(0);
  guards.store(depth > 0 ? 1 : 0);
  for (auto& handler : child_handlers)
    if (auto const run = handler.load(std::memory_order_acquire); run != nullptr) run();
}

}  // namespace

void watch_forks() noexcept {
  static bool const installed = pthread_atfork(before_fork, in_parent, in_child) == 0;
  (void)installed;
}

bool run_in_children(void (*run)()) noexcept {
  watch_forks();
  for (auto& handler : child_handlers) {
    void (*none)() = nullptr;
    if (handler.compare_exchange_strong(none, run)) return true;
  }
  return false;
}

bool was_forked_in_guard() noexcept {
  return forked_in_guard;
}

fork_guard::fork_guard() noexcept {
  if (depth++ > 0) return;
  watch_forks();
  for (std::uint64_t deadline = 0;;) {
    guards.fetch_add(1);
    auto const under_way = forks.load();
    if (under_way == 0) return;
    // A fork may wait for this thread in a handler of another library. In that case its child is
    // inert.
    if (deadline == 0) deadline = monotonic_ns() + max_wait_ns;
    if (monotonic_ns() > deadline) {
      is_impatient = true;
      impatient_guards.fetch_add(1);
      return;
    }
    if (guards.fetch_sub(1) == 1) futex_wake(guards);
    futex_wait(forks, under_way, look_every_ns);
  }
}

fork_guard::~fork_guard() {
  if (--depth > 0) return;
  if (std::exchange(is_impatient, false)) impatient_guards.fetch_sub(1);
  if (guards.fetch_sub(1) == 1 && forks.load() != 0) futex_wake(guards);
}

}  // namespace gpuprof
