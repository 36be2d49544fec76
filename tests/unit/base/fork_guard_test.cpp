// SPDX-License-Identifier: Apache-2.0
// fork() and threads of ours that hold locks.
#include "base/fork_guard.hpp"

#include "base/own_descriptor.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gpuprof;

namespace {
std::atomic<int> registrations{0};
}

extern "C" {
extern void* __dso_handle;

// pthread_atfork() is a function of the program itself, and calls this one of the C library.
int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* object) {
  if (object == __dso_handle) ++registrations;
  using function = int(void (*)(), void (*)(), void (*)(), void*);
  static auto* const real = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "__register_atfork"));
  return real(prepare, parent, child, object);
}
}

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

TEST_CASE("a guard that is never left delays a fork for seconds, not forever") {
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

TEST_CASE("fork handlers are registered once, and never inside a guard") {
  watch_forks();
  {
    fork_guard const guard;  // a fork that waits for it holds a lock that the call takes
    own_descriptor const file(open("/dev/null", O_RDONLY | O_CLOEXEC));
    watch_process_life();
  }
  CHECK(registrations == 1);
}

TEST_CASE("a child runs its registered functions in the order of registration") {
  static std::vector<int> ran;
  REQUIRE(run_in_children([] { ran.push_back(1); }));
  REQUIRE(run_in_children([] { ran.push_back(2); }));
  auto const child = fork();
  if (child == 0) _exit(ran == std::vector{1, 2} ? 0 : 1);
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(ran.empty());
}
