// SPDX-License-Identifier: Apache-2.0
#include "host/replay/cpu_points.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace gpuprof::host::replay {
namespace {

/// A thread counts as working beside the first one if more than this share of its points lies
/// inside calls of the first or between its points.
constexpr double max_beside_share = 0.2;

using points_of_thread = std::map<std::uint32_t, std::vector<cpu_point>>;

void add_launches(recorded_steps const& steps, points_of_thread& to) {
  struct launch {
    std::int64_t at_ns;
    std::uint32_t thread, item;
  };
  std::vector<launch> launches;
  for (std::uint32_t i = 0; i < steps.items.size(); ++i)
    if (!steps.items[i].is_from_before)
      launches.push_back({steps.items[i].launched_ns, steps.items[i].thread, i});
  std::sort(launches.begin(), launches.end(), [&](launch const& a, launch const& b) {
    if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
    if (a.thread != b.thread) return a.thread < b.thread;
    return steps.items[a.item].start_ns < steps.items[b.item].start_ns;
  });
  for (auto const& one : launches) {  // the nodes of a graph have one launch
    auto& points = to[one.thread];
    if (points.empty() || points.back().begin_ns != one.at_ns) {
      cpu_point made;
      made.begin_ns = made.end_ns = one.at_ns;
      made.kind = point_kind::launch;
      made.thread = one.thread;
      points.push_back(std::move(made));
    }
    points.back().items.push_back(one.item);
  }
}

/// The runtime calls the driver: only the outer call counts. A call that launches work is the
/// launch and then a call, so that the work is there before the call waits for it.
void add_calls(recorded_steps const& steps, points_of_thread& to) {
  std::map<std::uint32_t, std::vector<recorded_call const*>> of_thread;
  for (auto const& call : steps.calls)
    if (call.end_ns > 0 && call.begin_ns < steps.end_ns) of_thread[call.thread].push_back(&call);
  for (auto& [thread, calls] : of_thread) {
    std::sort(calls.begin(), calls.end(), [](auto const* a, auto const* b) {
      return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->end_ns > b->end_ns;
    });
    auto& points = to[thread];
    auto const launches = points.size();
    std::int64_t until_ns = -1;
    std::size_t next = 0;
    for (auto const* call : calls) {
      if (call->end_ns <= until_ns) continue;
      cpu_point made;
      made.begin_ns = std::max({call->begin_ns, until_ns, std::int64_t{0}});
      made.end_ns = until_ns = call->end_ns;
      while (next < launches && points[next].begin_ns < made.end_ns) {
        made.begin_ns = std::max(made.begin_ns, points[next].begin_ns);
        ++next;
      }
      made.kind = point_kind::call;
      made.thread = thread;
      made.call = call->kind;
      made.name = call->name;
      points.push_back(std::move(made));
    }
  }
}

/// Calls before launches of the same moment would wait for nothing.
int rank_of(cpu_point const& point) noexcept {
  switch (point.kind) {
    case point_kind::step_begin:
      return 0;
    case point_kind::range_mark:
      return 1;
    case point_kind::launch:
      return 2;
    case point_kind::call:
      return 3;
  }
  return 3;
}

bool comes_before(cpu_point const& a, cpu_point const& b) noexcept {
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : rank_of(a) < rank_of(b);
}

/// True if this thread works at the same time as the first one.
bool works_beside(std::vector<cpu_point> const& first, std::vector<cpu_point> const& other) {
  std::size_t at = 0, beside = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    while (at < first.size() && first[at].begin_ns <= other[i].begin_ns) ++at;
    auto const is_inside_call = at > 0 && first[at - 1].end_ns > other[i].begin_ns;
    auto const overlaps_next = at < first.size() && first[at].begin_ns < other[i].end_ns;
    auto const is_between = i > 0 && at > 0 && first[at - 1].begin_ns > other[i - 1].begin_ns &&
                            at < first.size() &&
                            first[at].begin_ns < other[std::min(i + 1, other.size() - 1)].begin_ns;
    if (is_inside_call || overlaps_next || is_between) ++beside;
  }
  return static_cast<double>(beside) > max_beside_share * static_cast<double>(other.size());
}

void add_ranges(recorded_steps const& steps, std::map<std::uint32_t, std::uint32_t> const& lane_of,
                std::vector<cpu_point>& points) {
  for (auto const& range : steps.ranges) {
    auto const lane = lane_of.find(range.thread);
    if (lane == lane_of.end()) continue;  // a thread that never launched anything
    auto const add = [&](std::int64_t at_ns, point_kind kind) {
      if (at_ns < 0 || at_ns > steps.end_ns) return;
      cpu_point made;
      made.begin_ns = made.end_ns = at_ns;
      made.kind = kind;
      made.lane = lane->second;
      made.thread = range.thread;
      points.push_back(std::move(made));
    };
    add(range.begin_ns, range.is_step ? point_kind::step_begin : point_kind::range_mark);
    add(range.end_ns, point_kind::range_mark);
  }
}

/// The innermost range of each lane at each moment.
void find_ranges(recorded_steps const& steps, std::map<std::uint32_t, std::uint32_t> const& lane_of,
                 cpu_lanes& of) {
  struct mark {
    std::int64_t at_ns;
    bool is_begin;
    std::uint32_t range;
  };
  std::vector<std::vector<mark>> marks(of.lanes);
  for (std::uint32_t i = 0; i < steps.ranges.size(); ++i) {
    auto const lane = lane_of.find(steps.ranges[i].thread);
    if (lane == lane_of.end()) continue;
    marks[lane->second].push_back({steps.ranges[i].begin_ns, true, i});
    marks[lane->second].push_back({steps.ranges[i].end_ns, false, i});
  }
  for (auto& one : marks)
    std::stable_sort(one.begin(), one.end(),
                     [](mark const& a, mark const& b) { return a.at_ns < b.at_ns; });
  std::vector<std::size_t> next(of.lanes);
  std::vector<std::vector<std::uint32_t>> open(of.lanes);
  for (auto& point : of.points) {  // the work before it ends with it
    auto& ranges = open[point.lane];
    auto& all = marks[point.lane];
    auto& at = next[point.lane];
    for (; at < all.size() && all[at].at_ns < point.begin_ns; ++at) {
      if (all[at].is_begin)
        ranges.push_back(all[at].range);
      else
        ranges.erase(std::remove(ranges.begin(), ranges.end(), all[at].range), ranges.end());
    }
    if (!ranges.empty()) point.range = ranges.back();
  }
}

void find_work(cpu_lanes& of) {
  of.begin_ns.assign(of.lanes, 0);
  std::vector<cpu_point*> before(of.lanes, nullptr);
  for (auto& point : of.points) {
    auto*& last = before[point.lane];
    if (last != nullptr) {
      // Another thread of the lane went on while this one was inside of a call.
      if (last->end_ns > point.begin_ns) last->end_ns = std::max(last->begin_ns, point.begin_ns);
      point.work_ns = point.begin_ns - last->end_ns;
    } else if (of.is_of_steps(point.lane)) {
      of.begin_ns[point.lane] = point.begin_ns;
    }
    last = &point;
  }
}

}  // namespace

cpu_lanes lanes_of(recorded_steps const& steps) {
  points_of_thread threads;
  for (auto const thread : steps.step_threads) threads[thread];
  add_launches(steps, threads);
  add_calls(steps, threads);
  for (auto& [_, points] : threads) std::stable_sort(points.begin(), points.end(), comes_before);
  cpu_lanes made;
  made.lanes = 0;
  made.rank_of_lane.clear();
  std::map<std::uint32_t, std::uint32_t> lane_of;
  for (auto const thread : steps.step_threads) {
    made.rank_of_lane.push_back(made.lanes);
    lane_of[thread] = made.lanes++;
  }
  for (auto const& [thread, points] : threads) {
    if (points.empty() || lane_of.count(thread) != 0) continue;
    auto const rank = thread < steps.rank_of_thread.size() ? steps.rank_of_thread[thread] : 0;
    if (works_beside(threads[steps.step_threads[rank]], points)) {
      made.rank_of_lane.push_back(rank);
      lane_of[thread] = made.lanes++;
    } else {
      lane_of[thread] = rank;
      ++made.shared;
    }
  }
  for (auto& [thread, points] : threads)
    for (auto& point : points) {
      point.lane = lane_of[thread];
      made.points.push_back(std::move(point));
    }
  add_ranges(steps, lane_of, made.points);
  std::stable_sort(made.points.begin(), made.points.end(), comes_before);
  find_ranges(steps, lane_of, made);
  find_work(made);
  return made;
}

}  // namespace gpuprof::host::replay
