// SPDX-License-Identifier: Apache-2.0
#include "page/finer_bars.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpuprof::page {

finer_bars::finer_bars(timeline_bars const& joined, lanes_by_row rows,
                       std::vector<captured_window> const& wanted, std::size_t limit)
    : joined_(joined), rows_(std::move(rows)), bars_(limit) {
  auto const stretch = std::max<std::uint64_t>(1, joined.joined_below_ns());
  for (auto const& window : wanted) {
    auto const begin = window.begin_ns / stretch * stretch;
    auto const end = (window.end_ns / stretch + 1) * stretch;
    if (!windows_.empty() && begin <= windows_.back().end_ns)
      windows_.back().end_ns = std::max(windows_.back().end_ns, end);
    else
      windows_.push_back({begin, end});
  }
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

void finer_bars::enter(captured_window const& window) {
  for (auto& [_, lanes] : rows_)
    for (auto& one : lanes) {
      auto const& of = joined_.lanes()[one.lane];
      auto const next = of.first_from(window.begin_ns);
      one.busy_until_ns = next == of.bars.begin() ? 0 : std::prev(next)->end_ns();
    }
}

}  // namespace gpuprof::page
