// SPDX-License-Identifier: Apache-2.0
// The bars of a timeline, as many as a page can hold: what is shorter than a moment that grows with
// the number of bars stands together in one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host::page {

struct bar {
  std::uint64_t end_ns() const noexcept { return start_ns + length_ns; }

  std::uint64_t start_ns = 0, length_ns = 0;
  std::uint64_t busy_ns = 0;     // of its pieces together: less than the length where they pause
  std::uint64_t longest_ns = 0;  // of one piece, the one whose name it has
  std::uint32_t name = 0;
  std::uint32_t count = 1;  // pieces
};

/// Bars on it do not overlap.
struct lane {
  using place = std::vector<bar>::const_iterator;
  /// The first bar that begins then or later.
  place first_from(std::uint64_t start_ns) const;

  std::string group, name;  // "GPU 0", "stream 7"
  std::uint64_t order = 0;  // of lanes in a group, the smallest on top
  std::vector<bar> bars;    // by time
};

class timeline_bars {
 public:
  /// At most `limit` bars; memory is bounded by it.
  explicit timeline_bars(std::size_t limit) : limit_(limit) {}

  std::size_t add_lane(std::string group, std::string name, std::uint64_t order);
  void set_order(std::size_t lane, std::uint64_t order) noexcept { lanes_[lane].order = order; }
  /// On a lane in order of their starts; one that begins before the last ended is cut.
  void add(std::size_t lane, std::uint64_t start_ns, std::uint64_t length_ns, std::uint32_t name);
  /// Of each lane, the bars of `finer` that begin within these moments instead of its own.
  void take(timeline_bars const& finer, std::uint64_t begin_ns, std::uint64_t end_ns);

  std::vector<lane> const& lanes() const noexcept { return lanes_; }
  /// Bars that lie in one stretch of this length, from a multiple of it on, may have been joined;
  /// 0: none were. So all pieces of a bar begin on one side of each multiple, and are over there
  /// if they are several.
  std::uint64_t joined_below_ns() const noexcept { return joined_below_; }
  std::size_t size() const noexcept { return size_; }

 private:
  bool joins(bar const& last, bar const& next) const noexcept;
  void join_all();

  std::size_t limit_;
  std::size_t size_ = 0;
  std::uint64_t joined_below_ = 0;
  std::vector<lane> lanes_;
};

}  // namespace gpuprof::host::page
