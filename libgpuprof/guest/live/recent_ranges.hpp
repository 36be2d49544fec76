// SPDX-License-Identifier: Apache-2.0
// Tells which ranges are around a piece of GPU work, of recent ranges, in memory that does not
// grow; also for launches by threads without a range.
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
  std::uint32_t label = 0;  // the caller's
  range_style style{};
};

/// GPU work ends long after its range has, so ranges stay known until many others have come. One
/// thread. Allocates nothing after its construction.
class recent_ranges {
 public:
  /// `ranges` and, of these, `start_end` are kept.
  recent_ranges(std::size_t ranges, std::size_t start_end);

  recent_range const& begin(range_begin const& range, std::uint32_t label);
  /// nullptr when it began before all this, or too long ago.
  recent_range const* end(range_end const& range) noexcept;
  recent_range const* find(range_id id) const noexcept;
  /// Where a push/pop range is kept, from 0 to places(): for what else a caller knows of it.
  std::size_t place_of(recent_range const& range) const noexcept {
    return static_cast<std::size_t>(&range - recent_.data());
  }
  std::size_t places() const noexcept { return recent_.size(); }

  /// Calls f(recent_range const&) for `innermost` and all push/pop ranges around it, from the
  /// inside out. False when there is an innermost one, and it is not known any more.
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
  /// And for the start/end ranges that were open at a launch. 0: it is not known when that was.
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

  std::vector<recent_range> recent_;     // by id, four each: the oldest makes room
  std::vector<recent_range> start_end_;  // a ring
  std::size_t next_start_end_ = 0;
  std::size_t start_end_used_ = 0;  // places of start_end_ ever filled: few programs have any
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

// Tells in which range a recent launch counts that was made by a thread without one.

/// The rule of launch_ranges, for a program that runs: memory does not grow beyond that of so many
/// threads and so many changes of each. One thread.
class recent_open_ranges {
 public:
  struct capacity {
    std::size_t threads = 16;  // that open ranges; of more than these, the first and the main one
    std::size_t changes = 16384;
  };
  recent_open_ranges() : recent_open_ranges(capacity{}) {}
  explicit recent_open_ranges(capacity limits) : limits_(limits) {}

  void main_thread_is(thread_index thread) noexcept { main_ = thread; }

  /// Those of one thread in order of time.
  void begin(range_begin const& range);
  void end(range_end const& range);

  /// 0: none, or it is too long ago. Fast when asked for moments close to each other in turn.
  range_id innermost(timestamp_ns launched) const noexcept;

 private:
  struct open_range {
    range_id id{};
    timestamp_ns begin;
  };
  struct change {
    timestamp_ns time;
    open_range innermost;  // from then on; 0: none
  };
  struct seen_thread {
    thread_index index{};
    std::vector<open_range> stack;
    std::vector<change> changes;  // a ring
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
