// SPDX-License-Identifier: Apache-2.0
#include "host/page/duration_series.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::host::page {
namespace {

void join(duration_point& last, duration_point const& next) {
  last.launches += next.launches;
  last.total_ns += next.total_ns;
  last.shortest_ns = std::min(last.shortest_ns, next.shortest_ns);
  last.longest_ns = std::max(last.longest_ns, next.longest_ns);
}

}  // namespace

// Stretches are counted from the first launch. A damaged capture may go back in time: that joins.
bool duration_series::joins(std::uint64_t start_ns) const noexcept {
  if (points_.empty()) return false;
  if (start_ns <= points_.back().start_ns) return stretch_ > 0;
  return start_ns - points_.front().start_ns - last_stretch_ < stretch_;
}

void duration_series::push(duration_point const& point) {
  points_.push_back(point);
  if (stretch_ == 0) return;
  auto const after_first = point.start_ns - points_.front().start_ns;
  last_stretch_ = after_first - after_first % stretch_;
}

void duration_series::widen() {
  auto const span = points_.back().start_ns - points_.front().start_ns;
  stretch_ = std::max<std::uint64_t>({1, 2 * stretch_, 2 * span / limit_});
  auto const all = std::exchange(points_, {});
  for (auto const& one : all)
    if (joins(one.start_ns))
      join(points_.back(), one);
    else
      push(one);
}

void duration_series::add(std::uint64_t start_ns, std::uint64_t duration_ns) {
  duration_point const next{start_ns, 1, duration_ns, duration_ns, duration_ns};
  if (joins(start_ns)) return join(points_.back(), next);
  push(next);
  while (points_.size() > limit_) widen();
}

}  // namespace gpuprof::host::page
