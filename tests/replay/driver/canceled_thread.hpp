// SPDX-License-Identifier: Apache-2.0
// Calls a profiler on a thread that somebody has canceled and that ends at the next point where it
// may: the profiler must not be that point.
#pragma once

#include <cstdlib>
#include <pthread.h>

namespace gpuprof::replay {

/// REPLAY_CANCELED=1: while it lives, this thread is canceled and would end. Afterwards it plays
/// on.
class canceled_thread {
 public:
  canceled_thread() noexcept {
    static bool const wanted = std::getenv("REPLAY_CANCELED") != nullptr;
    if (!wanted) return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
    is_canceled_ = true;
  }
  ~canceled_thread() {
    if (is_canceled_) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  }
  canceled_thread(canceled_thread const&) = delete;
  canceled_thread& operator=(canceled_thread const&) = delete;

 private:
  bool is_canceled_ = false;
};

}  // namespace gpuprof::replay
