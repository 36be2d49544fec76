// SPDX-License-Identifier: Apache-2.0
// Tells the moments of a recording from damaged ones, which lie months away from all others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>

namespace gpuprof::host {

/// A recording lasts for days, not for months. First note() all moments, then settle() and ask.
class recorded_days {
 public:
  /// Nanoseconds from any origin.
  void note(std::int64_t moment) {
    earliest_ = moment < earliest_ ? moment : earliest_;
    auto const day = day_of(moment);
    if (last_count_ == nullptr || day != last_day_) {
      // Damaged moments may be all different. Those of a recording share their days.
      if (counts_.size() >= max_days && !counts_.contains(day)) return;
      last_day_ = day;
      last_count_ = &counts_[day];
    }
    ++*last_count_;
  }
  void settle();

  /// Something that began at this moment and took so long.
  bool hold(std::int64_t begin, std::int64_t length) const noexcept {
    return begin >= first_ && begin <= last_ && length >= 0 && length <= longest_ns;
  }
  /// The earliest moment that the recording holds, as far as days tell; nothing noted: 0.
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
  std::uint64_t* last_count_ = nullptr;  // of that day: elements of such a map do not move
  std::int64_t earliest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_ = 0, last_ = 0;
};

}  // namespace gpuprof::host
