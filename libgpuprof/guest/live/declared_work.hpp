// SPDX-License-Identifier: Apache-2.0
// Holds back what ranges declare until all of their launches are known.
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpuprof::guest {

/// FLOP are declared for the whole of a range, when it begins; divided by the time of its first
/// launches they would be a rate that no GPU has. One thread; as many ranges as there are places.
class declared_work {
 public:
  explicit declared_work(std::size_t places) : ranges_(places) {}

  /// A range begins, in the place of an older one: what that one still held back is lost.
  void begin(std::size_t place, std::uint32_t path, double flops) noexcept {
    auto& range = ranges_[place];
    range = {flops, 0, {}, path, flops > 0, range.is_listed};
    any_ = any_ || flops > 0;
  }
  void end(std::size_t place, timestamp_ns time) noexcept { ranges_[place].end = time; }

  /// Whether any range has declared something yet: most programs never do.
  bool any() const noexcept { return any_; }
  bool declares(std::size_t place) const noexcept { return ranges_[place].declares; }
  /// A launch in a range that declares.
  void add_launch(std::size_t place, std::uint64_t ns) {
    auto& range = ranges_[place];
    range.ns += ns;
    range.has_launch = true;
    if (!std::exchange(range.is_listed, true)) listed_.push_back(static_cast<std::uint32_t>(place));
  }

  /// All launches up to this moment have been added. Calls f(path, flops, ns) for each range that
  /// is over by then, and has a launch.
  template <class F>
  void settle(timestamp_ns complete_until, F f) {
    std::size_t left = 0;
    for (auto const place : listed_) {
      auto& range = ranges_[place];
      bool const is_over = range.end.value != 0 && range.end <= complete_until;
      if (!range.has_launch || is_over) {
        range.is_listed = false;
        if (!range.has_launch) continue;  // of the older range in its place
        range.has_launch = false;
        f(range.path, std::exchange(range.flops, 0), std::exchange(range.ns, 0));
      } else {
        listed_[left++] = place;
      }
    }
    listed_.resize(left);
  }

 private:
  struct declared_range {
    double flops = 0;
    std::uint64_t ns = 0;  // of its launches, not settled yet
    timestamp_ns end;      // 0: open
    std::uint32_t path = 0;
    bool declares = false;
    bool is_listed = false;
    bool has_launch = false;
  };
  std::vector<declared_range> ranges_;
  std::vector<std::uint32_t> listed_;  // places with launches to settle
  bool any_ = false;
};

}  // namespace gpuprof::guest
