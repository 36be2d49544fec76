// SPDX-License-Identifier: Apache-2.0
// Defects of CUPTI versions, and which calls we avoid because of them.
#pragma once

#include <string>

namespace gpuprof::guest {

/// From CUPTI's release notes.
struct known_defects {
  /// cuptiFinalize crashed programs with CUDA graphs (up to CUDA 12.4), and a client that
  /// subscribed again got nothing (up to 12.5): CUPTI stays in the process.
  bool cannot_be_left = false;
  /// CUDA 13.0 without Update 1: switching records of kernels off may never return. They stay on.
  bool cannot_stop_kernel_records = false;
  /// CUDA 13.0 without Update 1: flushing may crash, so it is done only if records would be lost
  /// otherwise.
  bool should_not_flush = false;
};

/// `version`: from cuptiGetVersion().
known_defects known_defects_of(unsigned version) noexcept;

/// Returns one sentence for users; empty if there are no defects.
std::string describe(known_defects const& defects);

}  // namespace gpuprof::guest
