// SPDX-License-Identifier: Apache-2.0
// Records the times at which CUPTI's counter calls may have stopped a GPU.
#pragma once

#include "base/time.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace gpuprof::guest {

/// Any thread.
class gpu_pauses {
 public:
  /// Such a call takes 50 to 160 ms but stops the GPU only once, within 9 ms of its begin or its
  /// end (98,304 kernels of 1 ms and 816,688 of 0.1 ms on an H200).
  static constexpr duration_ns edge{10'000'000};

  void add_call(device_id device, timestamp_ns begin, timestamp_ns end) noexcept {
    std::lock_guard const lock(mutex_);
    try {
      if (end - begin <= edge + edge) return pauses_.push_back({device, begin, end - begin});
      pauses_.push_back({device, begin, edge});
      pauses_.push_back({device, begin + (end - begin - edge), edge});
    } catch (...) {  // no memory: kernels of that moment keep their longer time
    }
  }
  std::vector<pause_record> take() noexcept {
    std::lock_guard const lock(mutex_);
    return std::exchange(pauses_, {});
  }

 private:
  std::mutex mutex_;  // protects pauses_
  std::vector<pause_record> pauses_;
};

/// Adds a pause for the call that runs while this object lives. `to`: null if pauses are not
/// needed.
class pause_of_call {
 public:
  pause_of_call(gpu_pauses* to, device_id device) noexcept : to_(to), device_(device) {}
  ~pause_of_call() {
    if (to_ != nullptr) to_->add_call(device_, begin_, now());
  }
  pause_of_call(pause_of_call const&) = delete;
  pause_of_call& operator=(pause_of_call const&) = delete;

 private:
  gpu_pauses* const to_;
  device_id const device_;
  timestamp_ns const begin_ = now();
};

}  // namespace gpuprof::guest
