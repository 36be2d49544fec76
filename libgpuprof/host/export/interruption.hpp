// SPDX-License-Identifier: Apache-2.0
// Lets an interrupted export stop at a point where it can clean up.
#pragma once

namespace gpuprof::host {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is noted and a second one ends the process.
/// Exceeding a file size limit makes writing fail instead of ending the process.
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

/// Thrown by export_job::advance to end an export.
struct export_interrupted {
  int signal = 0;
};

}  // namespace gpuprof::host
