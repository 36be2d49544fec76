// SPDX-License-Identifier: Apache-2.0
#include "base/quiet_write.hpp"

#include <cerrno>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuprof {
namespace {

constexpr int of_writes[] = {SIGXFSZ, SIGPIPE};

}  // namespace

quiet_write::quiet_write() noexcept {
  sigset_t held;
  sigemptyset(&held);
  for (auto const signal : of_writes) sigaddset(&held, signal);
  sigemptyset(&pending_);
  sigpending(&pending_);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

// The kernel sends both signals to the writing thread. Uses the system call directly, because
// libc's function is a cancellation point.
quiet_write::~quiet_write() {
  auto const kept = errno;
  sigset_t now, ours;
  sigemptyset(&now);
  sigemptyset(&ours);
  sigpending(&now);
  auto any = false;
  for (auto const signal : of_writes) {
    if (sigismember(&now, signal) == 0 || sigismember(&pending_, signal) != 0) continue;
    sigaddset(&ours, signal);
    any = true;
  }
  timespec const at_once{};
  constexpr unsigned long kernel_set_bytes = 8;
  while (any && syscall(SYS_rt_sigtimedwait, &ours, nullptr, &at_once, kernel_set_bytes) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = kept;
}

}  // namespace gpuprof
