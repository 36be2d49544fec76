// SPDX-License-Identifier: Apache-2.0
// Tells the latest launches of a CUDA graph apart, whose kernels come one by one.
#pragma once

#include "model/ids.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace gpuprof::guest {

struct graph_launch {
  correlation_id correlation{};  // 0: none
  bool is_sampled = false;       // counters may have run around it
  std::uint64_t ns = 0;          // of its kernels so far
};

/// One thread. A graph runs one launch at a time; but records come only roughly in order, and that
/// a launch was read can be known a little after its kernels.
class graph_launches {
 public:
  graph_launch* find(correlation_id correlation) noexcept {
    if (recent_[last_].correlation == correlation) return &recent_[last_];
    auto* const found = std::find_if(recent_.begin(), recent_.end(), [&](graph_launch const& l) {
      return l.correlation == correlation;
    });
    return found != recent_.end() ? found : nullptr;
  }
  /// Takes the place of the oldest.
  graph_launch& begin(correlation_id correlation) noexcept {
    last_ = (last_ + 1) % recent_.size();
    return recent_[last_] = {correlation};
  }

 private:
  std::array<graph_launch, 8> recent_{};
  std::size_t last_ = 0;
};

}  // namespace gpuprof::guest
