#include "base/fork_guard.hpp"

#include "base/clock.hpp"
#include "base/futex.hpp"

#include <atomic>
#include <cstdint>
#include <pthread.h>

namespace gpuprof {
namespace {

constexpr std::uint64_t max_wait_ns = 2'000'000'000, look_every_ns = 1'000'000;

std::atomic<std::uint32_t> guards{0}, forks{0};

// Whoever comes second sees the first: a guard counts itself before it looks for forks, a fork
// before it looks for guards.
void before_fork() {
  forks.fetch_add(1);
  auto const deadline = monotonic_ns() + max_wait_ns;
  for (auto inside = guards.load(); inside != 0 && monotonic_ns() < deadline;
       inside = guards.load())
    futex_wait(guards, inside, look_every_ns);
}

void in_parent() {
  forks.fetch_sub(1);
  futex_wake(forks);
}

void in_child() {
  forks.store(0);
  guards.store(0);
}

bool install() noexcept {
  return pthread_atfork(before_fork, in_parent, in_child) == 0;
}

}  // namespace

fork_guard::fork_guard() noexcept {
  static bool const installed = install();
  (void)installed;
  for (;;) {
    guards.fetch_add(1);
    auto const under_way = forks.load();
    if (under_way == 0) return;
    if (guards.fetch_sub(1) == 1) futex_wake(guards);
    futex_wait(forks, under_way, look_every_ns);
  }
}

fork_guard::~fork_guard() {
  if (guards.fetch_sub(1) == 1 && forks.load() != 0) futex_wake(guards);
}

}  // namespace gpuprof
