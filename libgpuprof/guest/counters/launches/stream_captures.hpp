// SPDX-License-Identifier: Apache-2.0
// Which streams are being captured into graphs, as far as it was heard of.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace gpuprof::guest {

/// Any thread. While a stream is being captured nothing may wait for the GPU.
class stream_captures {
 public:
  void begins(CUstream stream) noexcept {
    std::lock_guard const lock(mutex_);
    try {
      if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end())
        streams_.push_back(stream);
    } catch (...) {
      lost_count_ = true;
    }
    note();
  }
  /// It ended, did not begin after all, or its stream was destroyed. Others go on.
  void ends(CUstream stream) noexcept {
    std::lock_guard const lock(mutex_);
    std::erase(streams_, stream);
    note();
  }
  void forget() noexcept {
    std::lock_guard const lock(mutex_);
    streams_.clear();
    lost_count_ = false;
    note();
  }
  bool any() const noexcept { return any_.load(); }

 private:
  void note() noexcept { any_.store(lost_count_ || !streams_.empty()); }

  std::atomic<bool> any_{false};
  std::mutex mutex_;  // protects the rest; held for moments
  std::vector<CUstream> streams_;
  bool lost_count_ = false;  // for want of memory
};

}  // namespace gpuprof::guest
