// SPDX-License-Identifier: Apache-2.0
// Keeps a thread of the program from ending by pthread_cancel() while it is inside of the library.
#pragma once

#include <pthread.h>

namespace gpuprof {

/// While it lives, the calling thread cannot be canceled; it ends at its own next chance.
/// Sleeping, waiting for a condition, opening and writing files are points where a canceled thread
/// ends, by unwinding its stack: through functions that are noexcept, and through CUPTI. On each
/// way from a thread of the program to such a point. The quick ways, a range or a launch that is
/// only noted, pass none and do without: 24 ns with glibc 2.36.
class no_cancellation {
 public:
  no_cancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~no_cancellation() { pthread_setcancelstate(before_, nullptr); }
  no_cancellation(no_cancellation const&) = delete;
  no_cancellation& operator=(no_cancellation const&) = delete;

 private:
  int before_ = 0;
};

}  // namespace gpuprof
