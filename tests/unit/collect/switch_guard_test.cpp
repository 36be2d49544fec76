// SPDX-License-Identifier: Apache-2.0
// Who switches CUPTI and who takes code away are never at it at once.
#include "guest/collect/switch_guard.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

TEST_CASE("no switch happens while code is unloaded") {
  switch_guard guard;
  guard.change_begins();
  guard.change_begins();
  CHECK_FALSE(guard.enter());
  guard.change_ended();
  CHECK_FALSE(guard.enter());
  guard.change_ended();
  REQUIRE(guard.enter());
  guard.leave();
}

TEST_CASE("an end without a begin has no effect, and begins are forgotten after missed callbacks") {
  switch_guard guard;
  guard.change_ended();
  guard.change_begins();
  CHECK_FALSE(guard.enter());
  guard.forget_changes();
  REQUIRE(guard.enter());
  guard.leave();
}

TEST_CASE("a switch that triggers a change on its own thread does not wait for itself",
          "[timing]") {
  switch_guard guard;
  REQUIRE(guard.enter());
  auto const began = std::chrono::steady_clock::now();
  guard.change_begins();
  guard.change_ended();
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::milliseconds(500));
  guard.leave();
}

TEST_CASE("a switch that cannot be postponed is done in the end") {
  switch_guard guard;
  guard.close();
  CHECK_FALSE(guard.enter_soon());
  guard.enter_at_last();
  std::atomic<bool> changes{false};
  std::thread changing([&] {
    guard.change_begins();  // waits, as for every switch
    changes = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK_FALSE(changes);
  guard.leave();
  changing.join();
}

TEST_CASE("a switch that can wait happens between two changes, even if they follow closely") {
  switch_guard guard;
  std::atomic<bool> stop{false};
  std::thread changing([&] {
    while (!stop) {
      guard.change_begins();
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      guard.change_ended();
    }
  });
  int entered = 0;
  for (int i = 0; i < 200 && entered == 0; ++i) {
    if (!guard.enter_soon()) continue;
    ++entered;
    guard.leave();
  }
  stop = true;
  changing.join();
  CHECK(entered == 1);
}

TEST_CASE("threads that switch and threads that unload code never overlap") {
  switch_guard guard;
  std::atomic<int> switching{0}, changing{0}, met{0}, switched{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        guard.change_begins();
        ++changing;
        if (switching > 0) ++met;
        --changing;
        guard.change_ended();
        std::this_thread::yield();
      }
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        if (!guard.enter()) continue;
        ++switching;
        ++switched;
        if (changing > 0) ++met;
        --switching;
        guard.leave();
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(met == 0);
  CHECK(switched > 0);
}
