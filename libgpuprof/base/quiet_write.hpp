// SPDX-License-Identifier: Apache-2.0
// A write of ours that cannot be made fails, and sends the program no signal.
#pragma once

#include <csignal>

namespace gpuprof {

/// While it lives this thread gets neither SIGXFSZ (the file would pass RLIMIT_FSIZE) nor SIGPIPE
/// (nobody reads), whose default is to end the process. Signals that the program has pending stay
/// so. Not inside of another one. Passes no point at which a thread is canceled.
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
