// SPDX-License-Identifier: Apache-2.0
// The push/pop ranges of one thread: how they nest, and which was open at a given time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpuprof::host {

/// Ranges are numbered from 1 on; 0 means none. Each domain has its own stack, so ranges may
/// overlap. A range counts as inside another only if it ends first.
class thread_ranges {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  /// Ranges must come in order of their beginning, longer ones first. Returns the range's number.
  std::uint32_t add(std::uint64_t begin, std::uint64_t end);
  std::uint32_t parent(std::uint32_t range) const { return ranges_[range - 1].parent; }
  std::uint16_t level(std::uint32_t range) const;

  /// Returns the innermost range open at a moment. Fast if successive calls ask for moments close
  /// to each other.
  std::uint32_t open_at(std::uint64_t moment) const;

 private:
  struct nested {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t parent = 0;
    std::uint32_t level = 0;
  };

  /// Returns the range itself if it has not ended, else the nearest one around it that has not.
  std::uint32_t not_ended(std::uint32_t range, std::uint64_t moment) const;

  std::vector<nested> ranges_;
  mutable std::size_t last_ = 0;  // ranges that had begun at the last requested moment
};

}  // namespace gpuprof::host
