// SPDX-License-Identifier: Apache-2.0
// Shows how the durations of a kernel spread and how they change over a run, in as many numbers as
// fit on a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gpuprof::host::page {

/// How often a kernel had which duration, in bins that show how most of its launches differ.
struct shown_durations {
  bool logarithmic = false;           // bin widths grow by a constant factor
  std::vector<std::uint64_t> edges;   // where bins begin, and the end of the last one; ns
  std::vector<std::uint64_t> counts;  // one fewer than edges
  /// Numbers of launches far from all others, which would squeeze the others into one bin.
  std::uint64_t shorter = 0, longer = 0;
};

/// Counts in many narrow bins. A bin's index is computed, because a search in a table would miss
/// the cache whenever many kernels alternate. The bins to be combined are chosen at the end.
class duration_histogram {
 public:
  static constexpr std::size_t max_shown = 40;
  /// Narrower bins would show the steps of the GPU clock, which are 32 ns.
  static constexpr std::uint64_t narrowest_ns = 32;
  /// Bins have equal width if the longest shown duration is at most this many times the shortest.
  static constexpr std::uint64_t linear_up_to = 8;
  /// Share of the launches at each end that is left out if the rest is then less than a third as
  /// wide.
  static constexpr double far_share = 0.005;
  static constexpr std::uint64_t far_factor = 3;

  duration_histogram(std::uint64_t shortest_ns, std::uint64_t longest_ns);

  /// Durations outside of the given limits count in the first or last bin.
  void add(std::uint64_t duration_ns);

  shown_durations shown() const;

 private:
  std::uint64_t edge(std::size_t bin) const noexcept;  // beginning of the bin

  std::uint64_t from_, to_;  // range of the durations, without `to_`
  std::vector<std::uint32_t> counts_;
  // The bin of the last duration, not yet counted, so that its memory can arrive meanwhile.
  std::optional<std::size_t> last_bin_;
};

struct duration_point {
  std::uint64_t start_ns = 0;  // start of its first launch
  std::uint64_t launches = 0, total_ns = 0, shortest_ns = 0, longest_ns = 0;
};

class duration_series {
 public:
  /// `max_points` must be at least two.
  explicit duration_series(std::size_t max_points) : limit_(max_points) {}

  /// Launches must come in order of their starts.
  void add(std::uint64_t start_ns, std::uint64_t duration_ns);

  std::vector<duration_point> const& points() const noexcept { return points_; }
  /// Launches that began within one stretch of this length share a point; 0: each launch has its
  /// own.
  std::uint64_t joined_within_ns() const noexcept { return stretch_; }

 private:
  bool joins(std::uint64_t start_ns) const noexcept;
  void push(duration_point const& point);
  void widen();

  std::size_t limit_;
  std::uint64_t stretch_ = 0;
  // beginning of the last point's stretch, relative to the first launch
  std::uint64_t last_stretch_ = 0;
  std::vector<duration_point> points_;
};

}  // namespace gpuprof::host::page
