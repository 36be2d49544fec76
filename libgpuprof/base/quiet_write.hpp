// SPDX-License-Identifier: Apache-2.0
// Makes failed writes of gpuprof return an error without sending the program a signal.
#pragma once

#include <csignal>

namespace gpuprof {

/// While it lives, this thread gets neither SIGXFSZ (the file would exceed RLIMIT_FSIZE) nor
/// SIGPIPE (the pipe has no reader); by default both end the process. Pending signals of the
/// program stay pending. Must not be nested. Contains no cancellation point.
class quiet_write {
 public:
  quiet_write() noexcept;
  ~quiet_write();
  quiet_write(quiet_write const&) = delete;
  quiet_write& operator=(quiet_write const&) = delete;

 private:
  sigset_t before_, pending_;
};

}  // namespace gpuprof
