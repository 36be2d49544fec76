// SPDX-License-Identifier: Apache-2.0
// Parts of a timeline whose bars were joined, read once more: in some windows each piece of work
// is a bar again.
#pragma once

#include "host/page/timeline_bars.hpp"
#include "host/page/timeline_pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::host::page {

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

}  // namespace gpuprof::host::page
