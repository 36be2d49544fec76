// SPDX-License-Identifier: Apache-2.0
#include "host/page/finer_bars.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpuprof::host::page {

std::vector<captured_stretch> grown(std::vector<captured_stretch> const& wanted,
                                    std::uint64_t joined_below_ns) {
  auto const length = std::max<std::uint64_t>(1, joined_below_ns);
  std::vector<captured_stretch> windows;
  for (auto const& window : wanted) {
    auto const begin = window.begin_ns / length * length;
    auto const end = (window.end_ns + length - 1) / length * length;
    if (!windows.empty() && begin <= windows.back().end_ns)
      windows.back().end_ns = std::max(windows.back().end_ns, end);
    else
      windows.push_back({begin, end});
  }
  return windows;
}

finer_bars::finer_bars(timeline_bars const& joined, lanes_by_row rows,
                       std::vector<captured_stretch> windows, std::size_t limit)
    : joined_(joined), rows_(std::move(rows)), windows_(std::move(windows)), bars_(limit) {
  for (auto const& lane : joined.lanes()) bars_.add_lane(lane.group, lane.name, lane.order);
}

void finer_bars::add(timeline_piece const& piece, std::uint32_t name) {
  while (entered_ < windows_.size() && windows_[entered_].begin_ns <= piece.start_ns)
    enter(windows_[entered_++]);
  auto& lanes = rows_[piece.row];
  auto const at = first_free(lanes, piece.start_ns);
  if (at >= std::min(lanes.size(), piece.max_lanes)) return;  // left out before, too
  lanes[at].busy_until_ns = piece.start_ns + piece.length_ns;
  bars_.add(lanes[at].lane, piece.start_ns, piece.length_ns, name);
}

void finer_bars::enter(captured_stretch const& window) {
  for (auto& [_, lanes] : rows_)
    for (auto& one : lanes) {
      auto const& of = joined_.lanes()[one.lane];
      auto const next = of.first_from(window.begin_ns);
      one.busy_until_ns = next == of.bars.begin() ? 0 : std::prev(next)->end_ns();
    }
}

}  // namespace gpuprof::host::page
