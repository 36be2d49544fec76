// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_bars.hpp"

#include <algorithm>
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
  if (end < start_ns) return;  // inside of the one before
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

// Each turn doubles the stretch until a quarter of the room is free again, so that turns are few.
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

}  // namespace gpuprof::host::page
