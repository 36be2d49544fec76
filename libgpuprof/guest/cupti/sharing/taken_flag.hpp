// SPDX-License-Identifier: Apache-2.0
// Waits between the two clients of a CUPTI, without a lock.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace gpuprof::guest {

// For the other client, which is inside CUPTI on another thread and waits there for nobody of ours.
inline constexpr int patience_ms = 30'000;

template <class Condition>
bool wait_for(Condition condition, int max_ms = patience_ms) noexcept {
  for (int waited = 0; !condition(); ++waited) {
    if (waited >= max_ms) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Takes a flag, and clears it however the block is left: a client may throw.
class taken_flag {
 public:
  enum class wait { no, yes };
  taken_flag(std::atomic_flag& flag, wait patient) noexcept
      : flag_(flag),
        mine_(patient == wait::yes ? wait_for([&flag] { return take(flag); }) : take(flag)) {}
  ~taken_flag() {
    if (mine_) flag_.clear(std::memory_order_release);
  }
  taken_flag(taken_flag const&) = delete;
  taken_flag& operator=(taken_flag const&) = delete;
  explicit operator bool() const noexcept { return mine_; }

 private:
  static bool take(std::atomic_flag& flag) noexcept {
    return !flag.test_and_set(std::memory_order_acquire);
  }
  std::atomic_flag& flag_;
  bool const mine_;
};

}  // namespace gpuprof::guest
