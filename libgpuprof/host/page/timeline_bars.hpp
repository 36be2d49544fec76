// SPDX-License-Identifier: Apache-2.0
// The bars of a timeline, as many as a page can hold: what is shorter than a moment that grows with
// the number of bars is joined. Chosen windows keep each piece, idle time has a lane for each
// cause.
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

// Parts of a timeline whose bars were joined, read once more: in some windows each piece of work
// is a bar again.

/// To multiples of the length within which bars were joined, outwards; those that meet are one.
/// `wanted`: in order of time.
std::vector<captured_stretch> grown(std::vector<captured_stretch> const& wanted,
                                    std::uint64_t joined_below_ns);

/// Windows lie between multiples of the length within which bars were joined. No joined bar lies
/// across such a moment, so it is known which lanes are free then, pieces find the lanes that they
/// had, and together they are just the bars that begin in the window.
class finer_bars {
 public:
  /// At most `limit` bars. `windows`: grown ones.
  finer_bars(timeline_bars const& joined, lanes_by_row rows, std::vector<captured_stretch> windows,
             std::size_t limit);

  /// Of all that begins in these windows, by time.
  void add(timeline_piece const& piece, std::uint32_t name);

  /// The same lanes with what was added.
  timeline_bars const& bars() const noexcept { return bars_; }

 private:
  void enter(captured_stretch const& window);

  timeline_bars const& joined_;
  lanes_by_row rows_;
  std::vector<captured_stretch> windows_;
  std::size_t entered_ = 0;  // of windows_
  timeline_bars bars_;
};

// Of each GPU the time in which nothing ran, by cause.

/// A lane a cause of a GPU. Gaps are joined like other bars, but in some windows they are kept.
class idle_times {
 public:
  /// At most so many bars, and `max_finer` more in windows.
  idle_times(std::size_t max_bars, std::size_t max_finer) : bars_(max_bars), finer_(max_finer) {}

  /// Before what lies in them is added.
  void look_into(std::vector<captured_stretch> windows);

  /// Of a cause of a GPU in order of time.
  void add(std::uint32_t device, std::string_view cause, std::uint64_t begin_ns,
           std::uint64_t end_ns);
  /// When all are added.
  void finish();

  timeline_bars const& bars() const noexcept { return bars_; }  // group: device, name: cause
  bool has_finer() const noexcept { return has_finer_; }        // in windows less is joined
  std::uint64_t finer_below_ns() const noexcept { return finer_.joined_below_ns(); }  // there
  std::uint64_t begin_ns() const noexcept { return begin_; }
  std::uint64_t end_ns() const noexcept { return end_; }

 private:
  std::vector<captured_stretch> windows_;
  timeline_bars bars_, finer_;  // with the same lanes
  bool has_finer_ = false;
  std::uint64_t begin_ = ~std::uint64_t{0}, end_ = 0;
  std::vector<std::pair<std::uint32_t, std::string_view>> lanes_;  // of bars_
  std::size_t last_ = 0;
};

}  // namespace gpuprof::host::page
