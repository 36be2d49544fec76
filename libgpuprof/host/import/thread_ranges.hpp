// SPDX-License-Identifier: Apache-2.0
// The push/pop ranges of one thread: how they are nested, and which was open at a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpuprof::host {

/// Ranges are numbered from 1 on; 0: none. Domains have stacks of their own, so that ranges may
/// overlap. One is inside another only if it ends first.
class thread_ranges {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  /// In order of their beginning, longer ones first. Its number.
  std::uint32_t add(std::uint64_t begin, std::uint64_t end);
  std::uint32_t parent(std::uint32_t range) const { return ranges_[range - 1].parent; }
  std::uint16_t level(std::uint32_t range) const;

  /// The innermost at a moment. Fast when asked for moments close to each other in turn.
  std::uint32_t open_at(std::uint64_t moment) const;

 private:
  struct nested {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t parent = 0;
    std::uint32_t level = 0;
  };

  /// The range itself or the nearest around it that has not ended.
  std::uint32_t not_ended(std::uint32_t range, std::uint64_t moment) const;

  std::vector<nested> ranges_;
  mutable std::size_t last_ = 0;  // ranges that had begun at the moment asked for last
};

}  // namespace gpuprof::host
