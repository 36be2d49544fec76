// SPDX-License-Identifier: Apache-2.0
// Finds the capture window that contains a moment, for any number of windows.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gpuprof::guest {

/// For one thread. A query takes a number of steps that grows with the logarithm of the number of
/// windows. The latest `max_kept` windows are kept: records of older ones arrived long ago.
class capture_windows {
 public:
  static constexpr std::size_t max_kept = 1 << 16;

  void open(timestamp_ns start);
  void close(timestamp_ns end);
  bool is_open() const noexcept { return open_.has_value(); }
  /// Call this from time to time with the current time. If the clock was set back, an open window
  /// also contains the times that follow.
  void clock_is_at(timestamp_ns now) noexcept;

  bool contain(timestamp_ns t) const noexcept;

  /// Launches are read from rings, windows from a queue, so a launch can arrive before its window.
  void saw(timestamp_ns launched, correlation_id launch);
  /// Call when the windows of all launches so far have been opened.
  void are_known() noexcept { early_.clear(); }

  /// Returns true if work without a known launch may have been launched in a window. Its start is
  /// not enough: it may have been launched before the window and run inside it. Correlation ids
  /// increase, so work with an id older than the window's first launch does not belong to it. Long
  /// after the window's start ids may have wrapped around, but then earlier work has ended.
  bool may_hold(timestamp_ns start, correlation_id launch) const noexcept;

  std::size_t kept() const noexcept { return closed_.size() + (open_ ? 1 : 0); }
  /// Returns how many windows and early launches were examined.
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  struct window {
    timestamp_ns start, end;
    timestamp_ns latest_end;  // of this window and all earlier ones
    correlation_id first{};   // oldest launch seen in it; 0: none yet
    void saw(correlation_id launch) noexcept;
    bool may_hold(timestamp_ns begin, correlation_id launch) const noexcept;
  };
  /// Launches since the last are_known(), so that a window finds its oldest launch without
  /// examining each.
  class early_launches {
   public:
    void add(timestamp_ns launched, correlation_id id);
    /// Returns the oldest launch at this moment or later, or 0 if there is none.
    correlation_id oldest_since(timestamp_ns t, std::uint64_t& steps);
    void clear() noexcept;

   private:
    struct launch {
      timestamp_ns time;
      correlation_id id{};
      correlation_id oldest{};  // oldest of this launch and all later ones
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
  timestamp_ns latest_;  // latest clock reading while it was open
  bool was_set_back_ = false;
  early_launches early_;
  mutable std::uint64_t steps_ = 0;
};

}  // namespace gpuprof::guest
