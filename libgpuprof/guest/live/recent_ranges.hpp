// SPDX-License-Identifier: Apache-2.0
// Finds the recent ranges around a piece of GPU work, in memory that does not grow. Also works for
// launches of threads without a range.
#pragma once

#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof::guest {

struct recent_range {
  range_id id{};
  range_id parent{};
  timestamp_ns begin;
  timestamp_ns end;         // 0: open
  std::uint32_t label = 0;  // set by the caller
  range_style style{};
};

/// GPU work can end long after its range, so ranges stay known until many newer ones have come. For
/// one thread. Allocates only in its constructor.
class recent_ranges {
 public:
  /// Keeps `ranges` push/pop ranges and `start_end` start/end ranges.
  recent_ranges(std::size_t ranges, std::size_t start_end);

  void begin(range_begin const& range, std::uint32_t label);
  /// Returns nullptr if the range began before recording, or too long ago.
  recent_range const* end(range_end const& range) noexcept;
  recent_range const* find(range_id id) const noexcept;

  /// Calls f(recent_range const&) for `innermost` and all push/pop ranges around it, from the
  /// inside out. Returns false if `innermost` is not 0 and not known any more.
  template <class F>
  bool each_around(range_id innermost, F f) const {
    auto id = innermost;
    for (std::size_t depth = 0; raw(id) != 0 && depth < deepest; ++depth) {
      auto const* const range = find(id);
      if (range == nullptr) return depth != 0;
      f(*range);
      id = range->parent;
    }
    return true;
  }
  /// Calls f for the start/end ranges that were open at a launch. `launched` is 0 if the time is
  /// not known.
  template <class F>
  void each_open_at(timestamp_ns launched, F f) const {
    if (launched.value == 0) return;
    for (auto const& range : std::span(start_end_).first(start_end_used_)) {
      if (launched < range.begin) continue;
      if (range.end.value == 0 || launched <= range.end) f(range);
    }
  }

 private:
  static constexpr std::size_t in_bucket = 4;
  static constexpr std::size_t deepest = 128;
  std::size_t bucket_of(range_id id) const noexcept;

  std::vector<recent_range> recent_;     // by id, in buckets of four; the oldest is replaced
  std::vector<recent_range> start_end_;  // a ring buffer
  std::size_t next_start_end_ = 0;
  std::size_t start_end_used_ = 0;  // entries of `start_end_` in use: few programs have any
};

inline std::size_t recent_ranges::bucket_of(range_id id) const noexcept {
  auto const mixed = static_cast<std::size_t>((raw(id) * 0x9E3779B97F4A7C15u) >> 32);
  return mixed & (recent_.size() - 1) & ~(in_bucket - 1);
}

inline recent_range const* recent_ranges::find(range_id id) const noexcept {
  if (raw(id) == 0) return nullptr;
  auto const* const bucket = &recent_[bucket_of(id)];
  for (std::size_t i = 0; i < in_bucket; ++i)
    if (bucket[i].id == id) return &bucket[i];
  return nullptr;
}

// Finds the range of a recent launch that was made by a thread without ranges.

/// Applies the rule of `launch_ranges` while the program runs. The numbers of threads and of
/// changes kept for each are limited. For one thread.
class recent_open_ranges {
 public:
  struct capacity {
    std::size_t threads = 16;  // threads that open ranges: the first ones and the main thread
    std::size_t changes = 16384;
  };
  recent_open_ranges() : recent_open_ranges(capacity{}) {}
  explicit recent_open_ranges(capacity limits) : limits_(limits) {}

  void main_thread_is(thread_index thread) noexcept { main_ = thread; }

  /// The calls for one thread must be in order of time.
  void begin(range_begin const& range);
  void end(range_end const& range);

  /// Returns 0 if there is none, or if it is too long ago. Fast if successive calls ask for close
  /// moments.
  range_id innermost(timestamp_ns launched) const noexcept;

 private:
  struct open_range {
    range_id id{};
    timestamp_ns begin;
  };
  struct change {
    timestamp_ns time;
    open_range innermost;  // the innermost range from `time` on; 0: none
  };
  struct seen_thread {
    thread_index index{};
    std::vector<open_range> stack;
    std::vector<change> changes;  // a ring buffer
    std::size_t next = 0;
    mutable std::size_t last_found = 0;
  };
  seen_thread* find(thread_index thread) noexcept;
  void note(seen_thread& of, timestamp_ns time);
  open_range at(seen_thread const& of, timestamp_ns moment) const noexcept;

  capacity limits_;
  thread_index main_{};
  std::vector<seen_thread> threads_;
};

}  // namespace gpuprof::guest
