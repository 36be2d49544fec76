// SPDX-License-Identifier: Apache-2.0
// Tells in which range a recent launch counts that was made by a thread without one.
#pragma once

#include "model/records.hpp"

#include <cstddef>
#include <vector>

namespace gpuprof::guest {

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
