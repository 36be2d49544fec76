// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_bars.hpp"

#include "host/page/timeline_pieces.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace gpuprof::host::page {
namespace {

constexpr std::uint64_t first_stretch_ns = 1024;
constexpr std::uint64_t last_stretch_ns = std::uint64_t{1} << 50;  // 13 days

void join(bar& last, bar const& next) noexcept {
  last.length_ns = next.end_ns() - last.start_ns;
  last.busy_ns += next.busy_ns;
  last.count += next.count;
  if (next.longest_ns <= last.longest_ns) return;
  last.longest_ns = next.longest_ns;
  last.name = next.name;
}

}  // namespace

std::size_t timeline_bars::add_lane(std::string group, std::string name, std::uint64_t order) {
  lanes_.push_back({std::move(group), std::move(name), order, {}});
  return lanes_.size() - 1;
}

bool timeline_bars::joins(bar const& last, bar const& next) const noexcept {
  if (joined_below_ == 0) return false;
  auto const stretch = last.start_ns / joined_below_;
  return next.start_ns / joined_below_ == stretch && next.end_ns() <= (stretch + 1) * joined_below_;
}

void timeline_bars::add(std::size_t lane, std::uint64_t start_ns, std::uint64_t length_ns,
                        std::uint32_t name) {
  auto& bars = lanes_[lane].bars;
  auto const end = start_ns + length_ns;
  if (!bars.empty()) start_ns = std::max(start_ns, bars.back().end_ns());
  if (end < start_ns) return;  // lies inside the previous bar
  bar const next{start_ns, end - start_ns, end - start_ns, end - start_ns, name, 1};
  if (!bars.empty() && joins(bars.back(), next)) return join(bars.back(), next);
  bars.push_back(next);
  if (++size_ > limit_) join_all();
}

lane::place lane::first_from(std::uint64_t start_ns) const {
  return std::lower_bound(bars.begin(), bars.end(), start_ns,
                          [](bar const& one, std::uint64_t ns) { return one.start_ns < ns; });
}

void timeline_bars::take(timeline_bars const& finer, std::uint64_t begin_ns, std::uint64_t end_ns) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    auto& of = lanes_[i];
    auto const& from = finer.lanes_[i];
    size_ -= of.bars.size();
    auto const at = of.bars.erase(of.first_from(begin_ns), of.first_from(end_ns));
    of.bars.insert(at, from.first_from(begin_ns), from.first_from(end_ns));
    size_ += of.bars.size();
  }
}

// Each round doubles the stretch until a quarter of the space is free again, so few rounds are
// needed.
void timeline_bars::join_all() {
  // A limit below the number of lanes cannot be met.
  while (size_ > limit_ - limit_ / 4 && joined_below_ < last_stretch_ns) {
    joined_below_ = std::max(first_stretch_ns, joined_below_ * 2);
    size_ = 0;
    for (auto& [group, name, order, bars] : lanes_) {
      std::size_t kept = 0;
      for (auto const& next : bars) {
        if (kept > 0 && joins(bars[kept - 1], next))
          join(bars[kept - 1], next);
        else
          bars[kept++] = next;
      }
      bars.resize(kept);
      size_ += kept;
    }
  }
}

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
  if (at >= std::min(lanes.size(), piece.max_lanes)) return;  // was left out in the first pass, too
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

void idle_times::look_into(std::vector<captured_stretch> windows) {
  windows_ = std::move(windows);
}

void idle_times::add(std::uint32_t device, std::string_view cause, std::uint64_t begin_ns,
                     std::uint64_t end_ns) {
  std::pair const wanted(device, cause);
  if (last_ >= lanes_.size() || lanes_[last_] != wanted) {
    auto const known = std::find(lanes_.begin(), lanes_.end(), wanted);
    last_ = static_cast<std::size_t>(known - lanes_.begin());
    if (known == lanes_.end()) {
      lanes_.push_back(wanted);
      for (auto* const bars : {&bars_, &finer_})
        bars->add_lane(std::to_string(device), std::string(cause), device);
    }
  }
  begin_ = std::min(begin_, begin_ns);
  end_ = std::max(end_, end_ns);
  bars_.add(last_, begin_ns, end_ns - begin_ns, 0);
  if (is_in(windows_, begin_ns)) finer_.add(last_, begin_ns, end_ns - begin_ns, 0);
}

// No joined bar crosses a multiple of the stretch, so the exchanged parts begin and end at these
// multiples.
void idle_times::finish() {
  auto const stretch = bars_.joined_below_ns();
  if (finer_.joined_below_ns() >= stretch) return;
  for (auto const& window : windows_) {
    auto const begin = (window.begin_ns + stretch - 1) / stretch * stretch;
    auto const end = window.end_ns / stretch * stretch;
    if (begin >= end) continue;
    bars_.take(finer_, begin, end);
    has_finer_ = true;
  }
}

}  // namespace gpuprof::host::page
