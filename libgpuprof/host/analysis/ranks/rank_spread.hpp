// SPDX-License-Identifier: Apache-2.0
// Computes how long the GPU of a rank was busy, and how much a value differs between the ranks of a
// job.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace gpuprof::host {

struct rank_value {
  std::size_t rank = 0;  // as the caller counts them
  double value = 0;
};

struct rank_spread {
  std::size_t ranks = 0;  // ranks that have a value
  double minimum = 0, median = 0, maximum = 0;
  std::size_t greatest = 0;  // the rank of the maximum; the first if there are several

  /// (maximum - minimum) / median; 0 if the median is 0.
  double share() const noexcept { return median > 0 ? (maximum - minimum) / median : 0; }
};

/// All members are 0 if there are no values.
rank_spread spread_of(std::span<rank_value const> values);

/// Sums the time in which a GPU did anything. Overlapping work counts once.
class busy_time {
 public:
  /// The caller must add work in order of start.
  void add(device_id device, timestamp_ns start, duration_ns duration) {
    if (duration.value <= 0) return;
    auto const end = start.value + static_cast<std::uint64_t>(duration.value);
    auto& of = of_[device];
    auto const from = std::max(start.value, of.until);
    if (end <= from) return;
    of.ns += end - from;
    of.until = end;
  }

  /// Returns the sum over all GPUs.
  std::uint64_t total_ns() const noexcept {
    std::uint64_t sum = 0;
    for (auto const& [_, of] : of_) sum += of.ns;
    return sum;
  }
  std::vector<device_id> devices() const {
    std::vector<device_id> found;
    for (auto const& [device, _] : of_) found.push_back(device);
    return found;
  }

 private:
  struct stretch {
    std::uint64_t until = 0, ns = 0;
  };
  std::map<device_id, stretch> of_;
};

}  // namespace gpuprof::host
