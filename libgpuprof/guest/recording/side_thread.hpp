// SPDX-License-Identifier: Apache-2.0
// A helper thread of the drain thread for work that may wait. The drain thread continues to decode.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace gpuprof::guest {

/// Never destroyed. Used by one thread, for one task at a time.
class side_thread {
 public:
  /// Runs `act` on the other thread. If no thread can be started, runs it here before returning.
  void begin(std::function<void()> act);
  /// Waits at most this long. Returns true if `act` has ended. Rethrows its exception.
  bool wait_for_end(std::chrono::nanoseconds timeout);

 private:
  bool start_thread() noexcept;
  void main() noexcept;

  bool thread_started_ = false;  // used by the calling thread

  std::mutex mutex_;  // protects everything below; not held while `act_` runs
  std::condition_variable changed_;
  std::function<void()> act_;  // empty if nothing runs
  std::exception_ptr thrown_;
};

}  // namespace gpuprof::guest
