// SPDX-License-Identifier: Apache-2.0
// Compares known states of threads of this test with what the kernel tells.
#include "guest/threads/thread_status.hpp"

#include "base/process.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

/// Runs `wait` on a thread until `end` is called, and looks at it until it is in a state that is
/// not running, or for ten seconds.
template <class Wait, class End>
thread_status::waiting state_while(Wait wait, End end) {
  std::atomic<std::uint32_t> os_thread{0};
  std::thread thread([&] {
    os_thread = os_thread_id();
    wait();
  });
  while (os_thread == 0) std::this_thread::yield();
  thread_status const status(os_thread);
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  auto seen = status.read_state();
  while (seen.state == cpu_state::running && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    seen = status.read_state();
  }
  end();
  thread.join();
  return seen;
}

struct pipe_ends {
  int ends[2];
  pipe_ends() { REQUIRE(pipe(ends) == 0); }
  ~pipe_ends() {
    close(ends[0]);
    close(ends[1]);
  }
  void write_one() { REQUIRE(write(ends[1], "x", 1) == 1); }
};

}  // namespace

TEST_CASE("a thread that waits for a lock is seen with the address of the lock") {
  std::mutex lock;
  lock.lock();
  auto const seen = state_while([&] { std::lock_guard const mine(lock); }, [&] { lock.unlock(); });
  CHECK(seen.state == cpu_state::lock);
  auto const address = reinterpret_cast<std::uintptr_t>(&lock);
  CHECK(seen.futex - address < sizeof lock);
}

TEST_CASE("threads that wait for a pipe, for files or in sleep are told apart") {
  pipe_ends pipe;
  char byte = 0;
  auto const reads =
      state_while([&] { (void)!read(pipe.ends[0], &byte, 1); }, [&] { pipe.write_one(); });
  CHECK(reads.state == cpu_state::input);
  auto const polls = state_while(
      [&] {
        pollfd file{pipe.ends[0], POLLIN, 0};
        poll(&file, 1, -1);
      },
      [&] { pipe.write_one(); });
  CHECK(polls.state == cpu_state::input);
  auto const sleeps =
      state_while([] { std::this_thread::sleep_for(std::chrono::seconds(1)); }, [] {});
  CHECK(sleeps.state == cpu_state::sleeping);
}

TEST_CASE("a thread that waits for a child process is seen to do so") {
  pipe_ends pipe;
  auto const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char byte = 0;
    (void)!read(pipe.ends[0], &byte, 1);
    _exit(0);
  }
  int status = 0;
  auto const seen = state_while([&] { waitpid(child, &status, 0); }, [&] { pipe.write_one(); });
  CHECK(seen.state == cpu_state::child);
}

TEST_CASE("a thread that computes gets time on a core, and one that has ended has none") {
  std::atomic<bool> ends{false};
  std::atomic<std::uint32_t> os_thread{0};
  std::thread thread([&] {
    os_thread = os_thread_id();
    while (!ends) {
    }
  });
  while (os_thread == 0) std::this_thread::yield();
  thread_status const status(os_thread);
  thread_status::times before, after;
  REQUIRE(status.read_times(before));
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(status.read_times(after));
  } while (after.on_core_ns <= before.on_core_ns && std::chrono::steady_clock::now() < deadline);
  CHECK(after.on_core_ns > before.on_core_ns);
  CHECK(status.read_state().state == cpu_state::running);
  ends = true;
  thread.join();
  // The kernel may take a moment to forget it.
  while (status.read_times(after) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK_FALSE(status.read_times(after));
  CHECK_FALSE(thread_status(0x7fffffff).read_times(after));
  CHECK(thread_status(0x7fffffff).read_state().state == cpu_state::other);
}
