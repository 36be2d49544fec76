// SPDX-License-Identifier: Apache-2.0
// A thread beside the drain thread, for what may wait: the drain thread decodes meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace gpuprof::guest {

/// Never destroyed. Used by one thread, for one thing at a time.
class side_thread {
 public:
  /// Runs `act` on the other thread. Where none can be started it has run on return.
  void begin(std::function<void()> act);
  /// Waits for at most this long. True when it is over; throws what it threw.
  bool wait_for_end(std::chrono::nanoseconds timeout);

 private:
  bool start_thread() noexcept;
  void main() noexcept;

  bool thread_started_ = false;  // the using thread's

  std::mutex mutex_;  // protects the rest; not held while something runs
  std::condition_variable changed_;
  std::function<void()> act_;  // empty: nothing runs
  std::exception_ptr thrown_;
};

}  // namespace gpuprof::guest
