// SPDX-License-Identifier: Apache-2.0
// Keeps a write of ours into a pipe that nobody reads from ending the program.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>
#include <pthread.h>

namespace gpuprof {

/// While it lives, a write of the calling thread that fails with EPIPE sends no SIGPIPE, provided
/// that failed() is told of the failure. What the program itself has pending or blocked stays so.
class no_sigpipe {
 public:
  no_sigpipe() noexcept {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &only_sigpipe(), &before_);
  }
  ~no_sigpipe() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  no_sigpipe(no_sigpipe const&) = delete;
  no_sigpipe& operator=(no_sigpipe const&) = delete;

  /// After a write that failed with `error`.
  void failed(int error) noexcept {
    if (error != EPIPE || was_pending_) return;
    timespec const at_once{};
    while (sigtimedwait(&only_sigpipe(), nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }

 private:
  static sigset_t const& only_sigpipe() noexcept {
    static sigset_t const set = [] {
      sigset_t made;
      sigemptyset(&made);
      sigaddset(&made, SIGPIPE);
      return made;
    }();
    return set;
  }

  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace gpuprof
