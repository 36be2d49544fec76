// SPDX-License-Identifier: Apache-2.0
#include "guest/live/recent_ranges.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace gpuprof::guest {

recent_ranges::recent_ranges(std::size_t ranges, std::size_t start_end)
    : recent_(std::bit_ceil(std::max(ranges, in_bucket))), start_end_(start_end) {}

void recent_ranges::begin(range_begin const& begin, std::uint32_t label) {
  recent_range const range{begin.range, begin.parent, begin.time, {}, label, begin.style};
  auto* const bucket = &recent_[bucket_of(begin.range)];
  // Prefers an empty place, then the range that ended first, then the oldest open range.
  auto* const place = std::min_element(
      bucket, bucket + in_bucket, [](recent_range const& a, recent_range const& b) {
        auto const age = [](recent_range const& r) {
          return std::tuple(raw(r.id) != 0, r.end.value == 0, r.end.value, r.begin.value);
        };
        return age(a) < age(b);
      });
  *place = range;
  if (begin.style != range_style::start_end || start_end_.empty()) return;
  start_end_[next_start_end_] = range;
  start_end_used_ = std::max(start_end_used_, next_start_end_ + 1);
  next_start_end_ = (next_start_end_ + 1) % start_end_.size();
}

recent_range const* recent_ranges::end(range_end const& end) noexcept {
  auto* const range = const_cast<recent_range*>(find(end.range));
  if (range == nullptr) return nullptr;
  range->end = end.time;
  if (range->style == range_style::start_end)
    for (auto& open : start_end_)
      if (open.id == end.range) open.end = end.time;
  return range;
}

namespace {

constexpr std::size_t deepest = 128;

}  // namespace

recent_open_ranges::seen_thread* recent_open_ranges::find(thread_index thread) noexcept {
  auto const found = std::find_if(threads_.begin(), threads_.end(),
                                  [thread](seen_thread const& t) { return t.index == thread; });
  return found == threads_.end() ? nullptr : &*found;
}

void recent_open_ranges::note(seen_thread& of, timestamp_ns time) {
  auto const innermost = of.stack.empty() ? open_range{} : of.stack.back();
  if (of.changes.size() < limits_.changes)
    of.changes.push_back({time, innermost});
  else
    of.changes[of.next] = {time, innermost};
  of.next = (of.next + 1) % limits_.changes;
}

void recent_open_ranges::begin(range_begin const& range) {
  if (range.style != range_style::push_pop) return;
  auto* of = find(range.thread);
  if (of == nullptr) {
    if (threads_.size() >= limits_.threads && range.thread != main_) return;
    of = &threads_.emplace_back();
    of->index = range.thread;
    of->stack.reserve(deepest);
  }
  // Ranges above the parent have ended, even if their end was not seen.
  auto const parent = std::find_if(of->stack.rbegin(), of->stack.rend(),
                                   [&](open_range const& o) { return o.id == range.parent; });
  of->stack.erase(parent.base(), of->stack.end());
  if (of->stack.size() == deepest) return;
  of->stack.push_back({range.range, range.time});
  note(*of, range.time);
}

void recent_open_ranges::end(range_end const& range) {
  auto* const of = find(range.thread);
  if (of == nullptr) return;
  // A launch at the very moment of the end still counts.
  auto const after = range.time + duration_ns{1};
  if (std::erase_if(of->stack, [&](open_range const& o) { return o.id == range.range; }) > 0)
    note(*of, after);
}

recent_open_ranges::open_range recent_open_ranges::at(seen_thread const& of,
                                                      timestamp_ns moment) const noexcept {
  auto const size = of.changes.size();
  auto const oldest = size < limits_.changes ? 0 : of.next;
  auto const nth = [&](std::size_t i) -> change const& { return of.changes[(oldest + i) % size]; };
  auto const holds = [&](std::size_t i) {
    return nth(i).time <= moment && (i + 1 == size || moment < nth(i + 1).time);
  };
  if (size == 0 || moment < nth(0).time) return {};
  if (of.last_found < size && holds(of.last_found)) return nth(of.last_found).innermost;
  std::size_t first = 0, after = size;
  while (after - first > 1) {
    auto const middle = first + (after - first) / 2;
    (nth(middle).time <= moment ? first : after) = middle;
  }
  of.last_found = first;
  return nth(first).innermost;
}

range_id recent_open_ranges::innermost(timestamp_ns launched) const noexcept {
  if (launched.value == 0) return {};
  open_range last;
  for (auto const& thread : threads_) {
    auto const open = at(thread, launched);
    if (raw(open.id) == 0) continue;
    if (thread.index == main_) return open.id;
    if (raw(last.id) == 0 || open.begin > last.begin) last = open;
  }
  return last.id;
}

}  // namespace gpuprof::guest
