// SPDX-License-Identifier: Apache-2.0
// Tells the moments of a recording from damaged ones, which lie months away from all others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>

namespace gpuprof::host {

/// A recording lasts for days, not for months. First note() all moments, then call settle(), then
/// the others.
class recorded_days {
 public:
  /// Nanoseconds from any origin.
  void note(std::int64_t moment) {
    earliest_ = moment < earliest_ ? moment : earliest_;
    auto const day = day_of(moment);
    if (last_count_ == nullptr || day != last_day_) {
      // Damaged moments may all differ. Moments of a recording share its days.
      if (counts_.size() >= max_days && !counts_.contains(day)) return;
      last_day_ = day;
      last_count_ = &counts_[day];
    }
    ++*last_count_;
  }
  void settle();

  /// True if the recording can hold an event that began at this moment and had this length.
  bool hold(std::int64_t begin, std::int64_t length) const noexcept {
    return begin >= first_ && begin <= last_ && length >= 0 && length <= longest_ns;
  }
  /// Returns the earliest moment of the recording, accurate to a day; 0 if nothing was noted.
  std::int64_t earliest() const noexcept {
    return counts_.empty() ? 0 : std::max(earliest_, first_);
  }

 private:
  static constexpr std::int64_t day_ns = 86'400'000'000'000;
  static constexpr std::int64_t longest_ns = 31 * day_ns;
  static constexpr std::size_t max_days = 4096;
  static std::int64_t day_of(std::int64_t moment) noexcept {
    return moment / day_ns - (moment % day_ns < 0);
  }

  std::unordered_map<std::int64_t, std::uint64_t> counts_;  // by day
  std::int64_t last_day_ = 0;
  std::uint64_t* last_count_ = nullptr;  // count of last_day_; elements of this map do not move
  std::int64_t earliest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_ = 0, last_ = 0;
};

}  // namespace gpuprof::host
