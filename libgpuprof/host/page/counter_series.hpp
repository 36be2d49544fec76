// SPDX-License-Identifier: Apache-2.0
// Values over time of the counters of one GPU, as many as a page can hold: beyond the limit
// intervals that lie in one stretch of time become one, with least, mean and greatest value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace gpuprof::host::page {

struct counter_value {
  float mean = std::numeric_limits<float>::quiet_NaN();  // over time; NaN: there is none
  float least = mean, greatest = mean;
  bool is_there() const noexcept { return mean == mean; }
};

class counter_series {
 public:
  explicit counter_series(std::size_t max_points) : limit_(max_points) {}

  /// A further track; what was added before has no value there.
  std::size_t add_track();
  /// In order of time. A value for each track, NaN for none.
  void add(std::uint64_t start_ns, std::uint64_t length_ns, std::span<double const> values);
  /// Joins until there are no more points than that.
  void keep(std::size_t max_points);

  struct point {
    std::uint64_t start_ns = 0, length_ns = 0;
    std::uint64_t counted_ns = 0;  // less than the length where counters paused
  };
  std::span<point const> points() const noexcept { return points_; }
  std::size_t tracks() const noexcept { return tracks_.size(); }
  std::span<counter_value const> values(std::size_t track) const noexcept { return tracks_[track]; }
  /// Intervals that lie in one stretch of this length may have been joined; 0: none were.
  std::uint64_t joined_below_ns() const noexcept { return joined_below_; }

 private:
  bool joins(point const& last, point const& next) const noexcept;
  void join(std::size_t to, std::size_t from) noexcept;
  void join_all();

  std::size_t limit_;
  std::uint64_t joined_below_ = 0;
  std::vector<point> points_;
  std::vector<std::vector<counter_value>> tracks_;  // each as long as points_
};

}  // namespace gpuprof::host::page
