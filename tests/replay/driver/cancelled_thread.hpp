// SPDX-License-Identifier: Apache-2.0
// Calls a profiler on a thread that somebody has cancelled and that ends at the next point where it
// may: the profiler must not be that point.
#pragma once

#include <cstdlib>
#include <pthread.h>

namespace gpuprof::replay {

/// REPLAY_CANCELLED=1: while it lives, this thread is cancelled and would end. Afterwards it plays
/// on.
class cancelled_thread {
 public:
  cancelled_thread() noexcept {
    static bool const wanted = std::getenv("REPLAY_CANCELLED") != nullptr;
    if (!wanted) return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
    is_cancelled_ = true;
  }
  ~cancelled_thread() {
    if (is_cancelled_) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  }
  cancelled_thread(cancelled_thread const&) = delete;
  cancelled_thread& operator=(cancelled_thread const&) = delete;

 private:
  bool is_cancelled_ = false;
};

}  // namespace gpuprof::replay
