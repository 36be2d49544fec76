// SPDX-License-Identifier: Apache-2.0
// The durations of one kernel or range in order of time, as sums over a bounded number of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::host::compare {

/// Fewer say nothing about their spread.
inline constexpr std::uint64_t least_repetitions = 5;

/// Blocks double in length whenever there are too many, so that memory does not grow with the run.
/// A single launch that was held up for long (another process, a page that was missing) would hide
/// what all others say: a value counts for no more than `clip_factor` times the 90th percentile of
/// the first ones. The total has all of it.
class duration_series {
 public:
  static constexpr std::size_t max_blocks = 128;
  static constexpr std::size_t first_values = 64;  // that say where to clip
  static constexpr double clip_factor = 3;

  void add(double ns);
  /// After the last one.
  void finish();

  std::uint64_t count() const noexcept { return count_; }
  double total() const noexcept { return total_; }
  double mean() const noexcept { return count_ > 0 ? total_ / static_cast<double>(count_) : 0; }
  /// Values that were clipped.
  std::uint64_t clipped() const noexcept { return clipped_; }
  /// Means of whole blocks, in order of time. The first value, which warms up, and what is left
  /// over at the end are in the totals alone.
  std::vector<double> const& blocks() const noexcept { return blocks_; }

 private:
  void put(double ns);
  void set_limit();

  std::vector<double> blocks_;  // before finish(): the first values; then sums; then means
  double total_ = 0, open_sum_ = 0;
  double limit_ = 0;  // 0: not known yet
  std::uint64_t count_ = 0, clipped_ = 0;
  std::uint32_t in_open_ = 0, block_length_ = 1;
};

}  // namespace gpuprof::host::compare
