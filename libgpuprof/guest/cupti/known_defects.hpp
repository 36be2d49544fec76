// SPDX-License-Identifier: Apache-2.0
// What versions of CUPTI get wrong, and what is not asked of them for that.
#pragma once

#include <string>

namespace gpuprof::guest {

/// From CUPTI's release notes.
struct known_defects {
  /// cuptiFinalize crashed programs with CUDA graphs (up to CUDA 12.4), and who subscribed again
  /// got nothing (up to 12.5): CUPTI stays in the process.
  bool cannot_be_left = false;
  /// CUDA 13.0 without Update 1: switching records of kernels off may never return. They stay on.
  bool cannot_stop_kernel_records = false;
  /// The same: flushing may crash. It is done only where records would be lost otherwise.
  bool should_not_flush = false;
};

/// `version`: as cuptiGetVersion() gives it.
known_defects known_defects_of(unsigned version) noexcept;

/// One sentence for users; empty: none is known.
std::string describe(known_defects const& defects);

}  // namespace gpuprof::guest
