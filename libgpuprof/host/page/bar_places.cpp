// SPDX-License-Identifier: Apache-2.0
#include "host/page/bar_places.hpp"

#include <algorithm>
#include <iterator>

namespace gpuprof::host::page {
namespace {

// The moment of a launch is that of a callback, some hundred nanoseconds before or after the start
// of its call.
constexpr std::uint64_t max_ahead_ns = 1000;

/// Returns the bar that has begun last; null: none has.
bar const* begun_at(lane const& of, std::uint64_t moment_ns) {
  auto const next = of.first_from(moment_ns + 1);
  return next == of.bars.begin() ? nullptr : &*std::prev(next);
}

}  // namespace

void bar_places::add_piece(row_key const& row, std::uint64_t start_ns, std::uint64_t length_ns,
                           std::string const& place) {
  auto const lanes = rows_.find(row);
  if (lanes == rows_.end()) return;
  for (auto const& one : lanes->second) {
    auto const* const around = begun_at(bars_.lanes()[one.lane], start_ns);
    if (around == nullptr || around->place != 0 || around->longest_ns != length_ns ||
        (start_ns >= around->end_ns() && start_ns != around->start_ns))
      continue;
    bars_.set_place(one.lane, *around, number_of(place));
    return;
  }
}

void bar_places::add_launch(row_key const& row, std::uint64_t moment_ns, std::string const& place) {
  auto const lanes = rows_.find(row);
  if (lanes == rows_.end()) return;
  for (auto const& one : lanes->second) {
    auto const& lane = bars_.lanes()[one.lane];
    auto const* call = begun_at(lane, moment_ns);
    if (call == nullptr || call->end_ns() <= moment_ns) {
      auto const next = lane.first_from(moment_ns);
      if (next == lane.bars.end() || next->start_ns > moment_ns + max_ahead_ns) continue;
      call = &*next;
    }
    if (call->count == 1 && (call->place == 0 || places_[call->place - 1].empty()))
      bars_.set_place(one.lane, *call, number_of(place));
  }
}

std::uint32_t bar_places::number_of(std::string const& place) {
  auto const [known, is_new] =
      numbers_.try_emplace(place, static_cast<std::uint32_t>(places_.size() + 1));
  if (is_new) places_.push_back(place);
  return known->second;
}

}  // namespace gpuprof::host::page
