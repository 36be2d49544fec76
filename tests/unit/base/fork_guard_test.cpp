// SPDX-License-Identifier: Apache-2.0
// fork() and threads of ours that hold locks.
#include "base/fork_guard.hpp"

#include "base/clock.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace gpuprof;

TEST_CASE("a child never finds a lock held that was taken under a guard") {
  static std::mutex lock;
  std::atomic<bool> over{false};
  std::jthread holder([&] {
    while (!over) {
      fork_guard const guard;
      std::lock_guard const hold(lock);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 50; ++i) {
    auto const child = fork();
    if (child == 0) _exit(lock.try_lock() ? 0 : 1);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  over = true;
}

TEST_CASE("a guard that is never left holds a fork up for seconds, not for ever") {
  std::atomic<bool> inside{false}, over{false};
  std::jthread holder([&] {
    fork_guard const guard;
    inside = true;
    inside.notify_one();
    over.wait(false);
  });
  inside.wait(false);
  auto const before = monotonic_ns();
  auto const child = fork();
  if (child == 0) _exit(0);
  CHECK(monotonic_ns() - before < 20'000'000'000u);
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  over = true;
  over.notify_one();
}
