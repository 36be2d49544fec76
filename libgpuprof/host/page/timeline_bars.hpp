// SPDX-License-Identifier: Apache-2.0
// The bars of a timeline, as many as fit on a page. Bars within one stretch of time are joined; the
// stretch grows with the number of bars. Chosen windows keep each piece; idle time has a lane for
// each cause.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/page/timeline_pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::page {

struct bar {
  std::uint64_t end_ns() const noexcept { return start_ns + length_ns; }

  std::uint64_t start_ns = 0, length_ns = 0;
  std::uint64_t busy_ns = 0;     // sum over its pieces; less than the length if there are pauses
  std::uint64_t longest_ns = 0;  // duration of its longest piece, whose name it has
  std::uint32_t name = 0;
  std::uint32_t count = 1;  // number of pieces
  std::uint32_t place = 0;  // of its longest piece in the program, from 1 on; 0: none
};

/// Bars of a lane do not overlap.
struct lane {
  using place = std::vector<bar>::const_iterator;
  /// Returns the first bar that begins at this time or later.
  place first_from(std::uint64_t start_ns) const;

  std::string group, name;  // "GPU 0", "stream 7"
  std::uint64_t order = 0;  // position of the lane in its group, the smallest on top
  std::vector<bar> bars;    // by time
};

class timeline_bars {
 public:
  /// Keeps at most `limit` bars, so memory is bounded.
  explicit timeline_bars(std::size_t limit) : limit_(limit) {}

  std::size_t add_lane(std::string group, std::string name, std::uint64_t order);
  void set_order(std::size_t lane, std::uint64_t order) noexcept { lanes_[lane].order = order; }
  /// Bars of a lane must come in order of their starts. One that begins before the last ended is
  /// cut.
  void add(std::size_t lane, std::uint64_t start_ns, std::uint64_t length_ns, std::uint32_t name);
  /// Replaces in each lane the bars that begin within these moments by those of `finer`.
  void take(timeline_bars const& finer, std::uint64_t begin_ns, std::uint64_t end_ns);

  /// `of` must be a bar of this lane.
  void set_place(std::size_t lane, bar const& of, std::uint32_t place) noexcept {
    auto& bars = lanes_[lane].bars;
    bars[static_cast<std::size_t>(&of - bars.data())].place = place;
  }

  std::vector<lane> const& lanes() const noexcept { return lanes_; }
  /// Bars within one stretch of this length, beginning at a multiple of it, may have been joined;
  /// 0: none were. So no joined bar crosses such a multiple.
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

// Reads parts of a timeline whose bars were joined once more: in some windows each piece of work is
// a bar again.

/// Extends the windows outward to multiples of the length within which bars were joined; windows
/// that meet become one. `wanted` is in order of time.
std::vector<captured_stretch> grown(std::vector<captured_stretch> const& wanted,
                                    std::uint64_t joined_below_ns);

/// Windows begin and end at multiples of the length within which bars were joined. No joined bar
/// crosses these moments, so it is known which lanes are free then. Pieces thus find the lanes that
/// they had, and together they are exactly the bars that begin in the window.
class finer_bars {
 public:
  /// Keeps at most `limit` bars. `windows` must come from grown().
  finer_bars(timeline_bars const& joined, lanes_by_row rows, std::vector<captured_stretch> windows,
             std::size_t limit);

  /// Takes all pieces that begin in these windows, in order of time.
  void add(timeline_piece const& piece, std::uint32_t name);

  /// The same lanes, with the added bars.
  timeline_bars const& bars() const noexcept { return bars_; }

 private:
  void enter(captured_stretch const& window);

  timeline_bars const& joined_;
  lanes_by_row rows_;
  std::vector<captured_stretch> windows_;
  std::size_t entered_ = 0;  // index into windows_
  timeline_bars bars_;
};

// The time in which each GPU was idle, by cause.

/// One lane for each cause on a GPU. Gaps are joined like other bars, but in some windows they are
/// kept.
class idle_times {
 public:
  /// Keeps at most `max_bars` bars, and `max_finer` more in windows.
  idle_times(std::size_t max_bars, std::size_t max_finer) : bars_(max_bars), finer_(max_finer) {}

  /// Call it before adding the gaps in these windows.
  void look_into(std::vector<captured_stretch> windows);

  /// Gaps with the same GPU and cause must come in order of time.
  void add(std::uint32_t device, std::string_view cause, std::uint64_t begin_ns,
           std::uint64_t end_ns);
  /// Call it after adding all gaps.
  void finish();

  timeline_bars const& bars() const noexcept { return bars_; }  // group: device, name: cause
  bool has_finer() const noexcept { return has_finer_; }        // less was joined there
  std::uint64_t finer_below_ns() const noexcept { return finer_.joined_below_ns(); }  // in windows
  std::uint64_t begin_ns() const noexcept { return begin_; }
  std::uint64_t end_ns() const noexcept { return end_; }

 private:
  std::vector<captured_stretch> windows_;
  timeline_bars bars_, finer_;  // both have the same lanes
  bool has_finer_ = false;
  std::uint64_t begin_ = ~std::uint64_t{0}, end_ = 0;
  std::vector<std::pair<std::uint32_t, std::string_view>> lanes_;  // lanes of bars_
  std::size_t last_ = 0;
};

}  // namespace gpuprof::host::page
