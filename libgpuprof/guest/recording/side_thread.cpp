// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/side_thread.hpp"

#include "base/quiet_thread.hpp"

#include <utility>

namespace gpuprof::guest {

bool side_thread::start_thread() noexcept {
  if (thread_started_) return true;
  auto const run = [](void* self) -> void* {
    static_cast<side_thread*>(self)->main();
    return nullptr;
  };
  pthread_t thread;
  if (start_quiet_thread(thread, "gpuprof side", 0, run, this) != 0) return false;
  pthread_detach(thread);
  return thread_started_ = true;
}

void side_thread::begin(std::function<void()> act) {
  if (!start_thread()) return act();
  {
    std::lock_guard const lock(mutex_);
    act_ = std::move(act);
  }
  changed_.notify_all();
}

bool side_thread::wait_for_end(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout, [this] { return !act_; })) return false;
  if (auto const thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
  return true;
}

/// Never returns: if the thread ended while the process exits, it would run the thread destructors
/// of all libraries in parallel with the exit handlers.
void side_thread::main() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return static_cast<bool>(act_); });
    auto const& act = act_;  // does not change until it has run
    std::exception_ptr thrown;
    lock.unlock();
    try {
      act();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    thrown_ = thrown;
    act_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace gpuprof::guest
