// SPDX-License-Identifier: Apache-2.0
#include "host/replay/step_graph.hpp"

#include "host/replay/cpu_points.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::host::replay {
namespace {

/// After 1,022 launches that have not run, a launch waits inside `cuLaunchKernel` (H100). In
/// programs that are bound by the GPU, 90 to 99 % of the launching thread's time is spent so.
struct full_queue {
  std::uint32_t length = 0;   // 0: it was never full
  std::vector<bool> is_full;  // by point
};

constexpr std::uint32_t least_length = 900;  // no GPU was seen with a shorter queue
constexpr std::uint32_t nearly_full = 3;     // launches below the length

std::int64_t end_of(recorded_steps const& steps, cpu_point const& launch) {
  std::int64_t end_ns = 0;
  for (auto const item : launch.items) end_ns = std::max(end_ns, steps.items[item].end_ns);
  return end_ns;
}

full_queue full_queue_of(recorded_steps const& steps, cpu_lanes const& lanes) {
  auto const& points = lanes.points;
  struct of_device {
    std::vector<std::int64_t> ends;
    std::uint32_t launched = 0, depth = 0, rank = 0;
    std::size_t ended = 0;
  };
  std::map<std::uint32_t, of_device> devices;
  for (auto const& item : steps.items) {
    devices[item.device].rank = steps.rank_of(item);
    if (item.is_from_before) {
      devices[item.device].ends.push_back(item.end_ns);
      ++devices[item.device].launched;
    }
  }
  for (auto const& point : points)
    if (!point.items.empty())
      devices[steps.items[point.items.front()].device].ends.push_back(end_of(steps, point));
  for (auto& [_, device] : devices) std::sort(device.ends.begin(), device.ends.end());
  full_queue found;
  std::vector<std::uint32_t> depths, before;
  for (auto const& point : points) {
    std::uint32_t depth = 0, last = 0;
    for (auto& [_, device] : devices) {
      if (device.rank != lanes.rank_of_lane[point.lane]) continue;
      while (device.ended < device.ends.size() && device.ends[device.ended] <= point.begin_ns)
        ++device.ended;
      auto const ended = static_cast<std::uint32_t>(device.ended);
      last = std::max(last, device.depth);
      device.depth = device.launched > ended ? device.launched - ended : 0;
      depth = std::max(depth, device.depth);
    }
    depths.push_back(depth);
    before.push_back(last);
    if (!point.items.empty()) ++devices[steps.items[point.items.front()].device].launched;
  }
  auto const deepest = depths.empty() ? 0 : *std::max_element(depths.begin(), depths.end());
  if (deepest < least_length) return found;
  found.length = deepest;
  for (std::size_t q = 0; q < depths.size(); ++q)
    found.is_full.push_back(std::max(depths[q], before[q]) + nearly_full >= deepest);
  return found;
}

constexpr std::size_t min_for_pace = 20;         // fewer items say nothing
constexpr std::int64_t usual_latency_ns = 5000;  // H100, of a launch
constexpr std::int64_t usual_pause_ns = 1300;    // H100, between two kernels
constexpr std::int64_t usual_call_ns = 2000;
constexpr std::int64_t event_within_ns = 20'000;      // an item that waits begins this soon
constexpr double tail_of_kernel = 0.4;                // it has room for another kernel there
constexpr double least_filled = 0.5;                  // of the GPU, by the blocks of a kernel
constexpr std::int64_t staged_copy_bytes = 65'536;    // the driver copies these at once
constexpr std::int64_t holds_before_end_ns = 20'000;  // a held thread goes on no earlier
constexpr std::int64_t returns_within_ns = 60'000;    // a wait, after what it waited for
constexpr double returns_within_share = 0.3;          // of the wait

std::int64_t quantile(std::vector<std::int64_t> values, double at, std::int64_t otherwise) {
  if (values.size() < min_for_pace) return otherwise;
  auto const place = static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * at);
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

bool may_wait(call_kind kind) noexcept {
  return is_wait(kind) || kind == call_kind::allocate || kind == call_kind::load_module;
}

}  // namespace

step_graph::step_graph(recorded_steps recorded) : recorded_(std::move(recorded)) {
  std::sort(recorded_.items.begin(), recorded_.items.end(),
            [](auto const& a, auto const& b) { return a.start_ns < b.start_ns; });
  lanes_ = lanes_of(recorded_);
  edges_.resize(recorded_.items.size());
  holds_.resize(lanes_.points.size());
  find_meetings();
  find_stream_order();
  measure_pace();
  find_other_streams();
  find_full_queue();
  find_holding_copies();
  find_waits();
  measure_launches();
  measure_length();
  find_order();
}

void step_graph::find_meetings() {
  meetings_.resize(recorded_.meetings);
  last_begin_.resize(recorded_.meetings);
  for (std::uint32_t i = 0; i < recorded_.items.size(); ++i) {
    auto const& item = recorded_.items[i];
    if (item.meeting == nothing) continue;
    meetings_[item.meeting].push_back(i);
    last_begin_[item.meeting] = item.start_ns;  // items are in order of their starts
  }
}

std::int64_t step_graph::lasting_ns(std::uint32_t i) const noexcept {
  auto const& item = recorded_.items[i];
  auto const ns = item.length_ns();
  return item.meeting == nothing
             ? ns
             : std::clamp<std::int64_t>(item.end_ns - last_begin_[item.meeting], 0, ns);
}

void step_graph::find_stream_order() {
  std::unordered_map<std::uint32_t, std::uint32_t> last;
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    auto const& item = recorded_.items[i];
    auto& edge = edges_[i];
    edge.latency_ns = item.start_ns - item.launched_ns;
    auto const [before, is_first] = last.try_emplace(item.stream, i);
    if (is_first) continue;
    edge.before = std::exchange(before->second, i);
    edge.gap_ns = item.start_ns - recorded_.items[edge.before].end_ns;
  }
}

step_graph::item_ends step_graph::ends_in_order() const {
  item_ends ends;
  for (std::uint32_t i = 0; i < recorded_.items.size(); ++i)
    ends.emplace_back(recorded_.items[i].end_ns, i);
  std::sort(ends.begin(), ends.end());
  return ends;
}

std::uint32_t step_graph::ended_just_before(std::uint32_t i, std::int64_t free_ns,
                                            item_ends const& ends) const {
  auto const& item = recorded_.items[i];
  auto next = std::upper_bound(ends.begin(), ends.end(), std::pair{item.start_ns, nothing});
  while (next != ends.begin()) {
    --next;
    if (next->first <= item.start_ns - event_within_ns || next->first < free_ns) break;
    auto const& by = recorded_.items[next->second];
    if (by.stream != item.stream && by.launched_ns < item.launched_ns &&
        recorded_.rank_of(by) == recorded_.rank_of(item))
      return next->second;
  }
  return nothing;
}

/// Latency is that of items that found an idle stream, the pause that of items that were launched
/// before the one before them had ended, and that waited for no other stream. Taken from all items,
/// both are wrong by ten times in programs that are bound by launching.
void step_graph::measure_pace() {
  auto const ends = ends_in_order();
  std::vector<std::int64_t> latencies, pauses;
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    auto const& edge = edges_[i];
    if (edge.before == nothing ||
        recorded_.items[edge.before].end_ns < recorded_.items[i].launched_ns)
      latencies.push_back(edge.latency_ns);
  }
  pace_.latency_ns = std::max<std::int64_t>(0, quantile(latencies, 0.01, usual_latency_ns));
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    auto& edge = edges_[i];
    edge.is_queued = edge.before != nothing && recorded_.items[i].launched_ns + pace_.latency_ns <
                                                   recorded_.items[edge.before].end_ns;
    if (edge.is_queued && edge.gap_ns >= 0 &&
        ended_just_before(i, recorded_.items[edge.before].end_ns, ends) == nothing)
      pauses.push_back(edge.gap_ns);
  }
  pace_.pause_ns = quantile(pauses, 0.5, usual_pause_ns);
}

/// An item whose stream was free and that still waited: for an event of another stream that ended
/// just before it, or for room that another stream's kernel gave when it came to its end.
void step_graph::find_other_streams() {
  auto const& items = recorded_.items;
  auto const ends = ends_in_order();
  auto const short_gap_ns = std::max<std::int64_t>(3 * pace_.pause_ns, 4000);
  auto const late_ns = pace_.latency_ns + std::max<std::int64_t>(3000, pace_.latency_ns / 2);
  std::vector<std::uint32_t> running;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    auto const& item = items[i];
    auto& edge = edges_[i];
    std::erase_if(running, [&](auto other) { return items[other].end_ns <= item.start_ns; });
    auto const beside = running;
    running.push_back(i);
    auto const has_gap = edge.before != nothing;
    if (item.is_from_before || edge.latency_ns <= late_ns ||
        (has_gap && edge.gap_ns <= short_gap_ns))
      continue;
    auto const free_ns = std::max(item.launched_ns + pace_.latency_ns,
                                  has_gap ? items[edge.before].end_ns + pace_.pause_ns : 0);
    edge.other = ended_just_before(i, free_ns, ends);
    if (edge.other != nothing) edge.reason = start_reason::event;
    if (edge.other == nothing) {
      for (auto const other : beside) {
        auto const& by = items[other];
        auto const left_ns = by.end_ns - item.start_ns;
        auto const fills = by.room == 0 || by.room + item.room > least_filled + 0.5;
        if (by.stream == item.stream || by.device != item.device || !fills ||
            by.launched_ns >= item.launched_ns ||
            static_cast<double>(left_ns) >= tail_of_kernel * static_cast<double>(by.length_ns()))
          continue;
        if (edge.other == nothing || left_ns < items[edge.other].end_ns - item.start_ns)
          edge.other = other;
      }
      if (edge.other != nothing) edge.reason = start_reason::room;
    }
    if (edge.other != nothing) {
      edge.other_gap_ns = item.start_ns - items[edge.other].end_ns;
      continue;
    }
    edge.reason = start_reason::unexplained;
    edge.unexplained_ns = std::max<std::int64_t>(0, item.start_ns - free_ns);
  }
}

/// Launches that waited for a full queue look like CPU work. Their work is taken from launches of
/// the same kernel while the queue was not full.
void step_graph::find_full_queue() {
  auto const full = full_queue_of(recorded_, lanes_);
  pace_.queue = full.length;
  if (full.length == 0) return;
  auto const name_of = [&](cpu_point const& point) {
    return point.items.empty() ? std::uint64_t{nothing} + 1 + static_cast<std::uint64_t>(point.kind)
                               : recorded_.items[point.items.front()].name;
  };
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> free;
  std::vector<std::int64_t> all, any;
  for (std::size_t q = 0; q < lanes_.points.size(); ++q) {
    auto const work = lanes_.points[q].work_ns;
    any.push_back(work);
    if (full.is_full[q]) continue;
    free[name_of(lanes_.points[q])].push_back(work);
    all.push_back(work);
  }
  auto const middle = [](std::vector<std::int64_t>& of) {
    auto const place = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), place, of.end());
    return *place;
  };
  auto const otherwise = all.empty() ? quantile(any, 0.1, usual_call_ns) : middle(all);
  std::unordered_map<std::uint64_t, std::int64_t> usual;
  for (auto& [name, works] : free) usual[name] = middle(works);
  for (std::size_t q = 0; q < lanes_.points.size(); ++q) {
    auto& point = lanes_.points[q];
    if (!full.is_full[q]) continue;
    auto const known = usual.find(name_of(point));
    point.work_ns = std::min(point.work_ns, known != usual.end() ? known->second : otherwise);
    if (point.kind == point_kind::call && point.call == call_kind::launch)
      point.end_ns = std::min(point.end_ns, point.begin_ns + otherwise);
  }
}

void step_graph::find_waits() {
  auto const& items = recorded_.items;
  std::vector<std::uint32_t> launched(items.size()), pending;
  for (std::uint32_t i = 0; i < launched.size(); ++i) launched[i] = i;
  std::sort(launched.begin(), launched.end(),
            [&](auto a, auto b) { return items[a].launched_ns < items[b].launched_ns; });
  std::size_t next = 0;
  std::vector<std::vector<std::int64_t>> bare(recorded_.call_names.size());
  for (std::size_t q = 0; q < lanes_.points.size(); ++q) {
    auto const& point = lanes_.points[q];
    if (point.kind != point_kind::call) continue;
    if (may_wait(point.call)) {
      while (next < launched.size() && items[launched[next]].launched_ns <= point.begin_ns)
        pending.push_back(launched[next++]);
      std::erase_if(pending, [&](auto item) { return items[item].end_ns <= point.begin_ns; });
      auto last = nothing;
      auto const rank = lanes_.rank_of_lane[point.lane];
      for (auto const item : pending)
        if (items[item].end_ns <= point.end_ns && recorded_.rank_of(items[item]) == rank &&
            (last == nothing || items[item].end_ns > items[last].end_ns))
          last = item;
      if (last != nothing) {
        auto const after = point.end_ns - items[last].end_ns;
        auto const length = static_cast<double>(point.end_ns - point.begin_ns);
        if (static_cast<double>(after) <
            std::max(static_cast<double>(returns_within_ns), returns_within_share * length)) {
          holds_[q].waits_for = last;
          holds_[q].returns_after_ns = after;
        }
      }
    }
    if (holds_[q].waits_for == nothing && holds_[q].held_by == nothing)
      bare[point.name].push_back(point.end_ns - point.begin_ns);
  }
  bare_calls_.resize(bare.size());
  for (std::size_t name = 0; name < bare.size(); ++name) {
    auto& times = bare[name];
    if (times.empty()) continue;
    auto const place = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
    std::nth_element(times.begin(), place, times.end());
    bare_calls_[name] = *place;
  }
}

/// A copy from or to pageable memory holds its thread until it has ended: inside of its call, or
/// just behind its launch if no call was recorded.
void step_graph::find_holding_copies() {
  std::vector<std::size_t> next_of_lane(lanes_.lanes, lanes_.points.size());
  for (auto q = lanes_.points.size(); q-- > 0;) {
    auto const& point = lanes_.points[q];
    auto const next = std::exchange(next_of_lane[point.lane], q);
    if (point.kind != point_kind::launch || point.items.size() != 1 || next == lanes_.points.size())
      continue;
    auto const& item = recorded_.items[point.items.front()];
    auto& after = lanes_.points[next];
    auto const is_staged = !item.to_host && item.bytes <= staged_copy_bytes;
    if (after.is_of_launch() && after.begin_ns == point.begin_ns) {
      if (!item.is_pageable || is_staged || after.end_ns < item.end_ns - holds_before_end_ns)
        continue;
      holds_[next].held_by = point.items.front();
      holds_[next].held_after_ns = after.end_ns - item.end_ns;
      continue;
    }
    if (!item.is_pageable || after.begin_ns < item.end_ns - holds_before_end_ns || is_staged)
      continue;
    holds_[q].held_by = point.items.front();
    holds_[q].held_after_ns = after.begin_ns - item.end_ns;
    after.work_ns = std::clamp<std::int64_t>(holds_[q].held_after_ns, 0, after.work_ns);
  }
}

/// Measures the time from launch to launch where they follow each other without another call in
/// between. If calls are recorded, those that launch are part of it.
void step_graph::measure_launches() {
  constexpr std::int64_t other_before = -1;
  std::vector<std::int64_t> works;
  std::vector<std::int64_t> call_before(lanes_.lanes, other_before);  // length of its own call
  for (auto const& point : lanes_.points) {
    auto& before = call_before[point.lane];
    if (point.kind == point_kind::launch) {
      if (before != other_before) works.push_back(before + point.work_ns);
      before = 0;
    } else if (point.is_of_launch() && before == 0) {
      before = point.end_ns - point.begin_ns;
    } else {
      before = other_before;
    }
  }
  pace_.launch_ns = quantile(std::move(works), 0.1, 0);
}

void step_graph::measure_length() {
  auto begin_ns = lanes_.begin_ns.front(), end_ns = recorded_.end_ns;
  for (auto const& item : recorded_.items)
    if (item.is_from_before)
      begin_ns = std::max(begin_ns, item.end_ns);
    else
      end_ns = std::max(end_ns, item.end_ns);
  recorded_ns_ = end_ns - begin_ns;
}

/// A thread that waits for other ranks goes on after they launched what it waits for, so a point
/// takes its place when it was over.
void step_graph::find_order() {
  order_.resize(lanes_.points.size());
  std::iota(order_.begin(), order_.end(), 0u);
  if (recorded_.ranks() == 1) return;
  std::vector<std::int64_t> over_ns(order_.size());
  std::vector<std::uint32_t> before(lanes_.lanes, nothing);
  for (std::uint32_t q = 0; q < order_.size(); ++q) {
    auto const& point = lanes_.points[q];
    over_ns[q] = point.end_ns;
    auto const last = std::exchange(before[point.lane], q);
    if (last == nothing) continue;
    over_ns[last] = std::max(over_ns[last], point.begin_ns - point.work_ns);
    over_ns[q] = std::max(over_ns[q], over_ns[last]);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](auto a, auto b) { return over_ns[a] < over_ns[b]; });
}

std::int64_t step_graph::bare_call_ns(std::uint32_t call_name) const noexcept {
  return call_name < bare_calls_.size() ? bare_calls_[call_name].value_or(usual_call_ns)
                                        : usual_call_ns;
}

}  // namespace gpuprof::host::replay
