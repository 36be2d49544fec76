// SPDX-License-Identifier: Apache-2.0
// Cuts the time of one GPU into stretches in which the same kinds of work ran, and gaps.
#pragma once

#include "analyse/timeline/gpu_item.hpp"
#include "analyse/timeline/time_bucket.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace gpuprof {

/// In which some work ran.
struct busy_stretch {
  timestamp_ns begin, end;
  time_bucket bucket{};
  gpu_item const& of;  // of those that ran the first to begin
};

/// In which none did.
struct idle_gap {
  timestamp_ns begin, end;
  gpu_item const* after;  // what ended it; null: the window ended
  bool is_first;          // nothing has run before it
};

/// An item that has ended.
struct ended_item {
  gpu_item item;
  /// Kernels: no other kernel ran; communication: no kernel; transfers: nothing else.
  double alone_ns = 0;
};

/// Feed items in order of their start; what lies outside of the window is cut off. A sink takes
/// each of the three above.
class device_sweep {
 public:
  device_sweep(timestamp_ns window_begin, timestamp_ns window_end)
      : cursor_(window_begin), window_end_(window_end) {}

  /// Tells the sink all that is settled up to the item's start.
  template <class Sink>
  void add(gpu_item const& item, Sink&& sink) {
    advance(std::min(item.start, window_end_), &item, sink);
    if (item.end <= item.start || item.start >= window_end_) return;
    running_.push_back({item});
    ++counts_[static_cast<std::size_t>(item.kind)];
  }
  template <class Sink>
  void finish(Sink&& sink) {
    advance(window_end_, nullptr, sink);
    while (!running_.empty()) retire(first_to_end(), sink);  // cut off by the end of the window
  }

 private:
  template <class Sink>
  void advance(timestamp_ns to, gpu_item const* next, Sink& sink) {
    while (!running_.empty()) {
      auto const first = first_to_end();
      auto const until = std::min(running_[first].item.end, to);
      if (until > cursor_) {
        note_alone(static_cast<double>((until - cursor_).value));
        sink(busy_stretch{cursor_, until, bucket(), running_.front().item});
        cursor_ = until;
      }
      if (running_[first].item.end > to) return;
      retire(first, sink);
    }
    if (cursor_ >= to) return;
    sink(idle_gap{cursor_, to, next, !any_ended_});
    cursor_ = to;
  }
  std::size_t first_to_end() const noexcept {
    std::size_t first = 0;
    for (std::size_t i = 1; i < running_.size(); ++i)
      if (running_[i].item.end < running_[first].item.end) first = i;
    return first;
  }
  template <class Sink>
  void retire(std::size_t index, Sink& sink) {
    --counts_[static_cast<std::size_t>(running_[index].item.kind)];
    any_ended_ = true;
    sink(running_[index]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  std::uint32_t count(item_kind kind) const noexcept {
    return counts_[static_cast<std::size_t>(kind)];
  }
  void note_alone(double ns) noexcept {
    auto const kernels = count(item_kind::compute);
    for (auto& one : running_) {
      auto const is_alone = one.item.kind == item_kind::compute         ? kernels == 1
                            : one.item.kind == item_kind::communication ? kernels == 0
                                                                        : running_.size() == 1;
      if (is_alone) one.alone_ns += ns;
    }
  }
  time_bucket bucket() const noexcept {
    if (count(item_kind::compute) > 0)
      return count(item_kind::communication) > 0 ? time_bucket::compute_and_communication
                                                 : time_bucket::compute;
    return count(item_kind::communication) > 0 ? time_bucket::communication : time_bucket::transfer;
  }

  timestamp_ns cursor_, window_end_;
  std::vector<ended_item> running_;  // few: as many as run at once; in order of their start
  std::array<std::uint32_t, 3> counts_{};
  bool any_ended_ = false;
};

}  // namespace gpuprof
