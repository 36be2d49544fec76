// SPDX-License-Identifier: Apache-2.0
// Visits the samples of a GPU in order of time, each with the work that ran in it.
#pragma once

#include "host/analysis/sampling/device_work.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace gpuprof::host {

/// The part of an item that ran in one sample.
struct work_part {
  work_item const* item = nullptr;
  double ns = 0;                           // in the sample
  double before = 0;                       // ns of the item before this sample
  bool is_begun = false, is_left = false;  // begins in an earlier sample, ends in a later one

  int cuts() const noexcept { return is_begun + is_left; }
  /// As a share of the item, 0 to 1.
  double share() const noexcept { return ns / length(); }
  double share_before() const noexcept { return before / length(); }
  double length() const noexcept { return static_cast<double>(item->length()); }
};

/// Calls take(sample, parts, busy) with the index, the work in it in order of start, and the ns in
/// which any work ran.
template <class Take>
void sweep_samples(sample_series const& samples, device_work const& work, Take take) {
  auto const items = work.items();
  std::vector<work_item const*> running;
  std::vector<work_part> parts;
  std::size_t next = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto const interval = samples.intervals()[i];
    for (; next < items.size() && items[next].start < interval.end; ++next)
      running.push_back(&items[next]);
    std::erase_if(running, [&](work_item const* item) { return item->end <= interval.start; });
    parts.clear();
    double busy = 0;
    auto busy_until = interval.start;
    for (auto const* const item : running) {
      auto const from = std::max(item->start, interval.start);
      auto const to = std::min(item->end, interval.end);
      parts.push_back({item, static_cast<double>(to - from),
                       static_cast<double>(from - item->start),
                       item->start<interval.start, item->end> interval.end});
      if (to <= busy_until) continue;
      busy += static_cast<double>(to - std::max(from, busy_until));
      busy_until = to;
    }
    take(i, std::span<work_part const>(parts), busy);
  }
}

}  // namespace gpuprof::host
