// SPDX-License-Identifier: Apache-2.0
// What is done beside the drain thread.
#include "guest/recording/side_thread.hpp"

#include "base/own_calls.hpp"
#include "base/process.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <pthread.h>
#include <stdexcept>
#include <thread>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr std::chrono::seconds long_enough{60};

side_thread& a_thread() {
  return *new side_thread;  // lives as long as the process
}

}  // namespace

TEST_CASE("a task runs on another thread, and the wait for it is limited") {
  auto& side = a_thread();
  std::atomic<bool> may_end{false};
  std::thread::id ran_on;
  side.begin([&] {
    ran_on = std::this_thread::get_id();
    while (!may_end) std::this_thread::yield();
  });
  CHECK_FALSE(side.wait_for_end(std::chrono::milliseconds(1)));
  may_end = true;
  CHECK(side.wait_for_end(long_enough));
  CHECK(ran_on != std::this_thread::get_id());
}

TEST_CASE("consecutive tasks run on the same thread") {
  auto& side = a_thread();
  std::thread::id first, second;
  side.begin([&] { first = std::this_thread::get_id(); });
  REQUIRE(side.wait_for_end(long_enough));
  side.begin([&] { second = std::this_thread::get_id(); });
  REQUIRE(side.wait_for_end(long_enough));
  CHECK(first == second);
}

TEST_CASE("an exception of the task is thrown to the waiting thread, once") {
  auto& side = a_thread();
  side.begin([] { throw std::runtime_error("no memory"); });
  CHECK_THROWS_WITH(side.wait_for_end(long_enough), "no memory");
  CHECK(side.wait_for_end(long_enough));
}

TEST_CASE("signals go to the program's threads, except those caused by the thread itself") {
  auto& side = a_thread();
  sigset_t blocked;
  sigemptyset(&blocked);
  side.begin([&] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); });
  REQUIRE(side.wait_for_end(long_enough));
  for (auto const of_the_program : {SIGINT, SIGTERM, SIGPROF, SIGALRM, SIGCHLD, SIGUSR1, SIGABRT})
    CHECK(sigismember(&blocked, of_the_program) == 1);
  for (auto const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    CHECK(sigismember(&blocked, own) == 0);
}

TEST_CASE("an own thread is recognized while it lives") {
  auto& side = a_thread();
  std::uint32_t thread = 0;
  side.begin([&] { thread = os_thread_id(); });
  REQUIRE(side.wait_for_end(std::chrono::seconds(10)));
  CHECK(is_own_thread(thread));
  CHECK_FALSE(is_own_thread(os_thread_id()));
}

TEST_CASE("own calls are noted while they are watched, before and after they are made") {
  while (take_own_calls()) {
  }
  { own_calls const not_watched; }
  watch_own_calls(true);
  {
    own_calls const marked;
    auto const begin = take_own_calls();
    REQUIRE(begin);
    CHECK(begin->os_thread == os_thread_id());
    CHECK(begin->to.value == 0);
  }
  auto const whole = take_own_calls();
  REQUIRE(whole);
  CHECK(whole->from <= whole->to);
  CHECK_FALSE(take_own_calls());
  watch_own_calls(false);
}

TEST_CASE("a stretch with a noted begin also has its end noted, even if the notes are not taken") {
  watch_own_calls(true);
  while (take_own_calls()) {
  }
  {
    own_calls const long_one;
    std::thread([] {
      for (int i = 0; i < 3000; ++i) own_calls const marked;
    }).join();
  }
  int begins = 0;
  int ends = 0;
  while (auto const note = take_own_calls()) ++(note->to.value == 0 ? begins : ends);
  CHECK(begins == ends);
  CHECK(begins > 1000);
  CHECK(begins < 3000);
  { own_calls const marked_again; }
  CHECK(take_own_calls());
  CHECK(take_own_calls());
  watch_own_calls(false);
}
