// SPDX-License-Identifier: Apache-2.0
// Lets an export end at a good moment when it is interrupted, so that it can clean up.
#pragma once

namespace gpuprof::host {

/// While it lives, SIGINT, SIGTERM and SIGHUP are noted; a second one ends the process. A limit on
/// the size of files makes writing fail, it does not end the process.
class interruption {
 public:
  interruption() noexcept;
  ~interruption();
  interruption(interruption const&) = delete;
  interruption& operator=(interruption const&) = delete;

  /// The signal that came; 0: none.
  static int signal() noexcept;

 private:
  void (*before_[3])(int) = {};
  void (*before_size_)(int) = nullptr;
};

/// Thrown out of an export by export_job::advance.
struct export_interrupted {
  int signal = 0;
};

}  // namespace gpuprof::host
