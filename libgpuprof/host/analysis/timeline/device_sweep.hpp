// SPDX-License-Identifier: Apache-2.0
// Divides the time of one GPU into stretches with the same kinds of work, and gaps.
#pragma once

#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/time_bucket.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace gpuprof::host {

/// A time in which some work ran.
struct busy_stretch {
  timestamp_ns begin, end;
  time_bucket bucket{};
  gpu_item const& of;  // of the running items, the one that started first
};

/// A time in which no work ran.
struct idle_gap {
  timestamp_ns begin, end;
  gpu_item const* after;  // the item that ended the gap; null: the window ended
  bool is_first;          // no work ran before it
};

/// An item that has ended.
struct ended_item {
  gpu_item item;
  /// For kernels: time without another kernel; communication: without any kernel; transfers:
  /// without any other work.
  double alone_ns = 0;
};

/// The caller must add items in order of start; time outside of the window is cut off. A sink takes
/// each of the three types above. The cost per item grows with the logarithm of the concurrent
/// items.
class device_sweep {
 public:
  device_sweep(timestamp_ns window_begin, timestamp_ns window_end)
      : cursor_(window_begin), window_end_(window_end) {}

  /// Passes everything that is settled up to the item's start to the sink.
  template <class Sink>
  void add(gpu_item const& item, Sink&& sink) {
    advance(std::min(item.start, window_end_), &item, sink);
    if (item.end > item.start && item.start < window_end_) begin(item);
  }
  template <class Sink>
  void finish(Sink&& sink) {
    advance(window_end_, nullptr, sink);
    while (!ends_.empty()) retire_first(sink);  // the window ends before these items
  }

 private:
  static constexpr std::uint32_t none = 0xffff'ffff;
  struct running_item {
    gpu_item item;
    double could_be_alone_ns = 0;                // sum of its kind when the item started
    std::uint32_t before = none, behind = none;  // in order of start
  };
  struct end_of_item {
    timestamp_ns end;
    std::uint64_t number = 0;  // in order of start
    std::uint32_t slot = 0;
    /// Order for heaps: the first item to end is on top; if several end together, the first to
    /// start.
    friend bool operator<(end_of_item const& a, end_of_item const& b) noexcept {
      return a.end != b.end ? a.end > b.end : a.number > b.number;
    }
  };

  template <class Sink>
  void advance(timestamp_ns to, gpu_item const* next, Sink& sink) {
    while (!ends_.empty()) {
      auto const end = ends_.front().end;
      auto const until = std::min(end, to);
      if (until > cursor_) {
        note_alone(static_cast<double>((until - cursor_).value));
        sink(busy_stretch{cursor_, until, bucket(), slots_[first_].item});
        cursor_ = until;
      }
      if (end > to) return;
      retire_first(sink);
    }
    if (cursor_ >= to) return;
    sink(idle_gap{cursor_, to, next, !any_ended_});
    cursor_ = to;
  }
  void begin(gpu_item const& item) {
    auto slot = static_cast<std::uint32_t>(slots_.size());
    if (free_.empty()) {
      slots_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    slots_[slot] = {item, could_be_alone_ns_[index(item.kind)], last_, none};
    (last_ == none ? first_ : slots_[last_].behind) = slot;
    last_ = slot;
    ends_.push_back({item.end, ++number_, slot});
    std::push_heap(ends_.begin(), ends_.end());
    ++counts_[index(item.kind)];
  }
  /// Removes the item that ends first.
  template <class Sink>
  void retire_first(Sink& sink) {
    std::pop_heap(ends_.begin(), ends_.end());
    auto const slot = ends_.back().slot;
    ends_.pop_back();
    auto const& ended = slots_[slot];
    auto const kind = index(ended.item.kind);
    (ended.before == none ? first_ : slots_[ended.before].behind) = ended.behind;
    (ended.behind == none ? last_ : slots_[ended.behind].before) = ended.before;
    --counts_[kind];
    any_ended_ = true;
    free_.push_back(slot);
    sink(ended_item{ended.item, could_be_alone_ns_[kind] - ended.could_be_alone_ns});
  }

  static constexpr std::size_t index(item_kind kind) noexcept {
    return static_cast<std::size_t>(kind);
  }
  std::uint32_t count(item_kind kind) const noexcept { return counts_[index(kind)]; }
  /// Adds to one sum per kind. While exactly one kernel runs, it runs alone (the other kinds follow
  /// similar rules), so the growth of the sum during an item is its time alone.
  void note_alone(double ns) noexcept {
    auto const kernels = count(item_kind::compute);
    if (kernels == 1) could_be_alone_ns_[index(item_kind::compute)] += ns;
    if (kernels == 0) could_be_alone_ns_[index(item_kind::communication)] += ns;
    if (ends_.size() == 1) could_be_alone_ns_[index(item_kind::transfer)] += ns;
  }
  time_bucket bucket() const noexcept {
    if (count(item_kind::compute) > 0)
      return count(item_kind::communication) > 0 ? time_bucket::compute_and_communication
                                                 : time_bucket::compute;
    return count(item_kind::communication) > 0 ? time_bucket::communication : time_bucket::transfer;
  }

  timestamp_ns cursor_, window_end_;
  std::vector<running_item> slots_;           // as many as the maximum of concurrent items
  std::vector<std::uint32_t> free_;           // unused slots
  std::vector<end_of_item> ends_;             // ends of running items: a heap
  std::uint32_t first_ = none, last_ = none;  // running items, in order of start
  std::uint64_t number_ = 0;
  std::array<std::uint32_t, 3> counts_{};
  std::array<double, 3> could_be_alone_ns_{};  // only whole numbers
  bool any_ended_ = false;
};

}  // namespace gpuprof::host
