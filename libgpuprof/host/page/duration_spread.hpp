// SPDX-License-Identifier: Apache-2.0
// How the durations of a kernel spread, and how they change over the time of a run; both in as many
// numbers as a page can hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::host::page {

/// How often a kernel ran how long, in bins that show how most of its launches differ.
struct shown_durations {
  bool logarithmic = false;           // each bin is wider than the one before by one factor
  std::vector<std::uint64_t> edges;   // where bins begin, and the end of the last, ns
  std::vector<std::uint64_t> counts;  // one less
  /// Few launches far from all others, which would push these into one bin.
  std::uint64_t shorter = 0, longer = 0;
};

/// Counts in many narrow bins, whose number is computed: no table of them is searched, which would
/// be far from the processor whenever many kernels take turns. Which bins stand together is known
/// at the end.
class duration_histogram {
 public:
  static constexpr std::size_t max_shown = 40;
  /// Narrower bins would show the steps of the clock: GPUs tell times in steps of 32 ns.
  static constexpr std::uint64_t narrowest_ns = 32;
  /// Bins of one width where the longest shown is at most so many times the shortest.
  static constexpr std::uint64_t linear_up_to = 8;
  /// Of the launches, at each end: left out where what remains is less than a third as wide.
  static constexpr double far_share = 0.005;
  static constexpr std::uint64_t far_factor = 3;

  duration_histogram(std::uint64_t shortest_ns, std::uint64_t longest_ns);

  /// What is shorter or longer than was said counts in the first or last bin.
  void add(std::uint64_t duration_ns);

  shown_durations shown() const;

 private:
  std::uint64_t edge(std::size_t bin) const noexcept;  // where it begins

  std::uint64_t from_, to_;  // all lengths, the last excluded
  std::vector<std::uint32_t> counts_;
};

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
