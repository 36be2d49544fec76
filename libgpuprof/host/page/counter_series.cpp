// SPDX-License-Identifier: Apache-2.0
#include "host/page/counter_series.hpp"

#include <algorithm>

namespace gpuprof::host::page {
namespace {

constexpr std::uint64_t first_stretch_ns = 1024;

/// The values of two intervals that became one; their weights are the times that were counted.
counter_value joined(counter_value const& a, double weight_a, counter_value const& b,
                     double weight_b) noexcept {
  if (!a.is_there()) return b;
  if (!b.is_there()) return a;
  auto const weights = weight_a + weight_b;
  auto const part = weights > 0 ? weight_b / weights : 0.5;
  return {static_cast<float>(a.mean + (b.mean - a.mean) * part), std::min(a.least, b.least),
          std::max(a.greatest, b.greatest)};
}

}  // namespace

std::size_t counter_series::add_track() {
  tracks_.emplace_back(points_.size());
  return tracks_.size() - 1;
}

bool counter_series::joins(point const& last, point const& next) const noexcept {
  return next.start_ns + next.length_ns - last.start_ns <= joined_below_;
}

void counter_series::join(std::size_t to, std::size_t from) noexcept {
  auto& last = points_[to];
  auto const& next = points_[from];
  for (auto& values : tracks_)
    values[to] = joined(values[to], static_cast<double>(last.counted_ns), values[from],
                        static_cast<double>(next.counted_ns));
  last.length_ns = next.start_ns + next.length_ns - last.start_ns;
  last.counted_ns += next.counted_ns;
}

void counter_series::add(std::uint64_t start_ns, std::uint64_t length_ns,
                         std::span<double const> values) {
  auto const end = start_ns + length_ns;
  if (!points_.empty())
    start_ns = std::max(start_ns, points_.back().start_ns + points_.back().length_ns);
  if (end <= start_ns) return;
  points_.push_back({start_ns, end - start_ns, end - start_ns});
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    auto const value = static_cast<float>(values[i]);
    tracks_[i].push_back({value, value, value});
  }
  if (auto const size = points_.size(); size > 1 && joins(points_[size - 2], points_.back())) {
    join(size - 2, size - 1);
    points_.pop_back();
    for (auto& track : tracks_) track.pop_back();
  }
  if (points_.size() > limit_) keep(limit_ - limit_ / 4);
}

void counter_series::keep(std::size_t max_points) {
  while (points_.size() > std::max<std::size_t>(1, max_points)) {
    joined_below_ = std::max(first_stretch_ns, joined_below_ * 2);
    join_all();
  }
}

void counter_series::join_all() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (kept > 0 && joins(points_[kept - 1], points_[i])) {
      join(kept - 1, i);
      continue;
    }
    points_[kept] = points_[i];
    for (auto& values : tracks_) values[kept] = values[i];
    ++kept;
  }
  points_.resize(kept);
  for (auto& values : tracks_) values.resize(kept);
}

}  // namespace gpuprof::host::page
