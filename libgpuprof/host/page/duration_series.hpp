// SPDX-License-Identifier: Apache-2.0
// How long a kernel ran over the time of a run, in as many points as a page can hold: launches
// within one stretch of time, which doubles until all fit, stand together in one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::host::page {

struct duration_point {
  std::uint64_t start_ns = 0;  // of its first launch
  std::uint64_t launches = 0, total_ns = 0, shortest_ns = 0, longest_ns = 0;
};

class duration_series {
 public:
  /// At least two.
  explicit duration_series(std::size_t max_points) : limit_(max_points) {}

  /// In order of their starts.
  void add(std::uint64_t start_ns, std::uint64_t duration_ns);

  std::vector<duration_point> const& points() const noexcept { return points_; }
  /// Launches that began in one stretch of this length are one point; 0: each is one.
  std::uint64_t joined_within_ns() const noexcept { return stretch_; }

 private:
  bool joins(std::uint64_t start_ns) const noexcept;
  void push(duration_point const& point);
  void widen();

  std::size_t limit_;
  std::uint64_t stretch_ = 0;
  std::uint64_t last_stretch_ = 0;  // where that of the last point begins, after the first launch
  std::vector<duration_point> points_;
};

}  // namespace gpuprof::host::page
