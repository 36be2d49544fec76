// SPDX-License-Identifier: Apache-2.0
// Files that the real NVML keeps open while it is in use.
#pragma once

#include <mutex>
#include <vector>

namespace gpuprof::replay {

/// So many as REPLAY_NVML_FILES says. Any thread.
class kept_files {
 public:
  void begin();
  void end();

 private:
  std::mutex mutex_;  // protects the rest
  unsigned users_ = 0;
  std::vector<int> open_;
};

kept_files& files_of_nvml();

}  // namespace gpuprof::replay
