// SPDX-License-Identifier: Apache-2.0
// Runs a function when the main thread ends, before all exit handlers.
#pragma once

#include <atomic>

namespace gpuprof {

/// Exit handlers run last one first, and destructors of libraries are such handlers: what is opened
/// late is gone while threads of ours still use it. What ends with the main thread comes before all
/// of them. Only that thread can ask for it, so each thread of the program calls look(). One per
/// process.
class main_thread_end {
 public:
  explicit main_thread_end(void (*f)()) noexcept : f_(f) {}
  void look() noexcept {
    if (!is_known_.load(std::memory_order_relaxed)) look_once();
  }

 private:
  void look_once() noexcept;
  void (*const f_)();
  std::atomic<bool> is_known_{false};
};

}  // namespace gpuprof
