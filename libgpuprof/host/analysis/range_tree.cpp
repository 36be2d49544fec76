// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_tree.hpp"

#include "model/gpu_work.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace gpuprof::host {
namespace {

std::size_t slot_of(range_id id, std::size_t mask) noexcept {
  // Ids hold a thread number above a running number: mixes both into the low bits.
  auto const mixed = raw(id) * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(mixed >> 32) & mask;
}

}  // namespace

range_tree::range_tree(std::span<range_begin const> begins, std::span<range_end const> ends,
                       timestamp_ns last_moment) {
  ranges_.reserve(begins.size());
  for (auto const& begin : begins) {
    ranges_.push_back({.id = begin.range,
                       .thread = begin.thread,
                       .style = begin.style,
                       .level = begin.level,
                       .name = begin.name,
                       .domain = begin.domain,
                       .begin = begin.time,
                       .end = {}});
  }
  std::vector<range_id> parents(begins.size());
  {
    std::vector<std::uint32_t> order(begins.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (begins[a].time != begins[b].time) return begins[a].time < begins[b].time;
      return begins[a].level < begins[b].level;
    });
    std::vector<traced_range> sorted;
    sorted.reserve(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      sorted.push_back(ranges_[order[i]]);
      // A start/end range is not on the stack of its thread.
      if (begins[order[i]].style == range_style::push_pop) parents[i] = begins[order[i]].parent;
    }
    ranges_ = std::move(sorted);
  }
  index_ids();
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    if (raw(parents[i]) == 0) continue;
    auto const parent = index_of(parents[i]);
    if (parent < i) ranges_[i].parent = parent;  // prevents cycles, even in a damaged file
  }
  take_ends(ends, last_moment);
  leave_ended_parents();
}

void range_tree::index_ids() {
  slots_.assign(std::bit_ceil(ranges_.size() * 2 + 1), no_range);
  auto const mask = slots_.size() - 1;
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    auto slot = slot_of(ranges_[i].id, mask);
    while (slots_[slot] != no_range) slot = (slot + 1) & mask;
    slots_[slot] = i;
  }
}

void range_tree::take_ends(std::span<range_end const> ends, timestamp_ns last_moment) {
  for (auto& range : ranges_) range.still_open = true;
  for (auto const& end : ends) {
    auto const index = index_of(end.range);
    if (index == no_range) continue;
    ranges_[index].end = end.time;
    ranges_[index].still_open = false;
  }
  for (auto& range : ranges_) {
    if (!range.still_open) continue;
    range.end = std::max(last_moment, range.begin);
    ++still_open_;
  }
}

/// Moves up parents that end before their child: each domain has its own stack, so ranges of one
/// thread may overlap without being nested. Launches after the end of a range are not in it.
void range_tree::leave_ended_parents() {
  for (auto& range : ranges_) {
    if (range.still_open) continue;
    while (range.parent != no_range && ranges_[range.parent].end < range.end)
      range.parent = ranges_[range.parent].parent;
  }
}

void range_tree::leave_out(std::function<bool(traced_range const&)> const& is_left_out) {
  if (std::ranges::none_of(ranges_, is_left_out)) return;
  std::vector<std::uint32_t> now(ranges_.size());  // the new index of each, or of what is around it
  std::vector<traced_range> kept;
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    auto& range = ranges_[i];
    auto const around = range.parent == no_range ? no_range : now[range.parent];
    if (is_left_out(range)) {
      stand_ins_[range.id] = now[i] = around;
      still_open_ -= range.still_open;
      continue;
    }
    range.parent = around;
    now[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(range);
  }
  ranges_ = std::move(kept);
  last_ = no_range;
  index_ids();
}

thread_index range_tree::thread_with_ranges(thread_index main_thread) const {
  std::map<thread_index, double> ns;  // lengths of a damaged file may add up to more than 64 bits
  for (auto const& range : ranges_)
    if (range.style == range_style::push_pop && range.parent == no_range)
      ns[range.thread] += nanoseconds(range.duration());
  if (ns.contains(main_thread) || ns.empty()) return main_thread;
  return std::ranges::max_element(ns, {}, [](auto const& of) { return of.second; })->first;
}

void range_tree::join_helpers(thread_index main_thread) {
  auto const main = thread_with_ranges(main_thread);
  auto last = no_range;  // latest range of the main thread
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    auto& range = ranges_[i];
    if (range.style != range_style::push_pop) continue;
    if (range.thread == main) {
      last = i;
      continue;
    }
    if (range.parent != no_range) continue;
    range.waiting = last;
    while (range.waiting != no_range && ranges_[range.waiting].end < range.end)
      range.waiting = ranges_[range.waiting].parent;
  }
}

std::uint32_t range_tree::find(range_id id) const noexcept {
  if (raw(id) == 0 || slots_.empty()) return no_range;
  auto const mask = slots_.size() - 1;
  for (auto slot = slot_of(id, mask);; slot = (slot + 1) & mask) {
    auto const index = slots_[slot];
    if (index == no_range) break;
    if (ranges_[index].id == id) return index;
  }
  auto const stand_in = stand_ins_.find(id);
  return stand_in == stand_ins_.end() ? no_range : stand_in->second;
}

bool range_tree::is_within(std::uint32_t range, std::uint32_t ancestor) const noexcept {
  while (range != no_range && range > ancestor) range = ranges_[range].parent;
  return range == ancestor && range != no_range;
}

open_ranges::open_ranges(range_tree const& tree) {
  struct event {
    std::uint64_t time;
    std::uint32_t range;
    bool opens;
  };
  std::vector<event> events;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto const& range = tree[i];
    if (range.style != range_style::start_end) continue;
    events.push_back({range.begin.value, i, true});
    // A launch at exactly the end still counts, so the segment ends one later.
    if (!range.still_open) events.push_back({range.end.value + 1, i, false});
  }
  if (events.empty()) return;
  std::stable_sort(events.begin(), events.end(),
                   [](event const& a, event const& b) { return a.time < b.time; });

  // Each segment stores its full list of open ranges. A program that never ends its ranges would
  // make these lists too long: above this limit, new ranges are left out and counted.
  constexpr std::size_t max_entries = 32u << 20;
  auto const max_followed = std::clamp<std::size_t>(max_entries / events.size(), 16, 4096);
  std::vector<std::uint32_t> open;
  for (std::size_t i = 0; i < events.size();) {
    auto const time = events[i].time;
    for (; i < events.size() && events[i].time == time; ++i) {
      if (!events[i].opens)
        std::erase(open, events[i].range);
      else if (open.size() < max_followed)
        open.push_back(events[i].range);
      else
        ++not_followed_;
    }
    begins_.push_back(time);
    offsets_.push_back(static_cast<std::uint32_t>(open_.size()));
    open_.insert(open_.end(), open.begin(), open.end());
  }
  offsets_.push_back(static_cast<std::uint32_t>(open_.size()));
}

std::span<std::uint32_t const> open_ranges::at(timestamp_ns moment) const noexcept {
  if (begins_.empty() || moment.value < begins_.front()) return {};
  auto const holds = [&](std::size_t i) {
    return begins_[i] <= moment.value && (i + 1 == begins_.size() || moment.value < begins_[i + 1]);
  };
  if (!holds(last_)) {
    auto const after = std::upper_bound(begins_.begin(), begins_.end(), moment.value);
    last_ = static_cast<std::size_t>(after - begins_.begin()) - 1;
  }
  return {open_.data() + offsets_[last_], open_.data() + offsets_[last_ + 1]};
}

}  // namespace gpuprof::host
