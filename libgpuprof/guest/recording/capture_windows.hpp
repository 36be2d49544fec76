// SPDX-License-Identifier: Apache-2.0
// Tells in which capture window a moment lies, however many windows there were.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gpuprof::guest {

/// One thread. A question takes a number of steps that grows with the logarithm of the number of
/// windows. The latest `max_kept` windows are kept: records of older ones came long ago.
class capture_windows {
 public:
  static constexpr std::size_t max_kept = 1 << 16;

  void open(timestamp_ns start);
  void close(timestamp_ns end);
  bool is_open() const noexcept { return open_.has_value(); }
  /// Tell it from time to time what the clock says. When the clock has been set back, an open
  /// window also holds what follows.
  void clock_is_at(timestamp_ns now) noexcept;

  bool contain(timestamp_ns t) const noexcept;

  /// Launches are read from rings, and windows from a queue: a launch may come before its window.
  void saw(timestamp_ns launched, correlation_id launch);
  /// The windows of all launches so far have been opened.
  void are_known() noexcept { early_.clear(); }

  /// True if work whose launch was not seen may have been launched in a window. By its start alone
  /// it may have been launched before the window and run inside it. Correlation ids count up, so
  /// work with an id older than the window's first launch does not belong to it. Long after the
  /// window's start ids may have come round, and what ran before it has ended.
  bool may_hold(timestamp_ns start, correlation_id launch) const noexcept;

  std::size_t kept() const noexcept { return closed_.size() + (open_ ? 1 : 0); }
  /// How many windows and early launches have been looked at.
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  struct window {
    timestamp_ns start, end;
    timestamp_ns latest_end;  // of this one and all before it
    correlation_id first{};   // the oldest of the launches seen in it; 0: none yet
    void saw(correlation_id launch) noexcept;
    bool may_hold(timestamp_ns begin, correlation_id launch) const noexcept;
  };
  /// The launches that came since are_known(), so that a window finds the oldest of its own without
  /// a look at each.
  class early_launches {
   public:
    void add(timestamp_ns launched, correlation_id id);
    /// The oldest of those launched at this moment or later; 0: none.
    correlation_id oldest_since(timestamp_ns t, std::uint64_t& steps);
    void clear() noexcept;

   private:
    struct launch {
      timestamp_ns time;
      correlation_id id{};
      correlation_id oldest{};  // of this one and all later ones
    };
    std::vector<launch> launches_;
    bool is_sorted_ = true;
  };

  /// Calls use(window) for the closed windows that contain the moment, latest first, until it
  /// returns true.
  template <class Windows, class Use>
  bool any_closed(Windows& windows, timestamp_ns t, Use use) const;

  std::deque<window> closed_;  // sorted by start
  std::optional<window> open_;
  timestamp_ns latest_;  // that the clock has said while it was open
  bool was_set_back_ = false;
  early_launches early_;
  mutable std::uint64_t steps_ = 0;
};

}  // namespace gpuprof::guest
