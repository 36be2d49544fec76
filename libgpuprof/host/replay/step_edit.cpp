// SPDX-License-Identifier: Apache-2.0
#include "host/replay/step_edit.hpp"

#include "host/analysis/timeline/launch_pace.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gpuprof::host::replay {
namespace {

// Half of the time before a launch is the launch itself, which goes with it.
constexpr double share_before_launch = 0.5, share_before_call = 1;
constexpr std::int64_t graph_launch_ns = 10'000;  // cuGraphLaunch, H100
constexpr std::int64_t pinned_launch_ns = 5000;   // of an asynchronous copy

std::int64_t scaled(std::int64_t ns, double by) noexcept {
  return static_cast<std::int64_t>(static_cast<double>(ns) * by);
}

/// The outermost range around each that is meant; `nothing`: none.
std::vector<std::uint32_t> instances_of(recorded_steps const& steps, name_set const& names) {
  std::vector<std::uint32_t> of(steps.ranges.size(), nothing);
  for (std::uint32_t i = 0; i < of.size(); ++i) {
    auto const parent = steps.ranges[i].parent;
    if (parent != nothing) of[i] = of[parent];
    if (of[i] == nothing && has(names, steps.ranges[i].name)) of[i] = i;
  }
  return of;
}

}  // namespace

step_edit::step_edit(step_graph const& graph, cpu_work_before before)
    : graph_(&graph), before_(before) {
  auto const& points = graph.points();
  kept_.assign(points.size(), 1);
  for (std::size_t q = 0; q < points.size(); ++q) {
    auto const& hold = graph.holds()[q];
    auto const length = points[q].end_ns - points[q].begin_ns;
    held_.push_back(hold.held_by != nothing);
    work_ns_.push_back(points[q].work_ns);
    call_ns_.push_back(hold.waits_for != nothing ||
                               (hold.held_by != nothing && points[q].name != nothing)
                           ? std::min(length, graph.bare_call_ns(points[q].name))
                           : length);
  }
  gone_.assign(graph.items().size(), 0);
  waits_for_none_.assign(graph.items().size(), 0);
  pause_ns_.assign(graph.items().size(), pause_of_graph);
  launch_of_.assign(graph.items().size(), nothing);
  for (std::uint32_t q = 0; q < points.size(); ++q)
    for (auto const item : points[q].items) launch_of_[item] = q;
  for (std::size_t i = 0; i < graph.items().size(); ++i) {
    auto const& item = graph.items()[i];
    length_ns_.push_back(graph.lasting_ns(static_cast<std::uint32_t>(i)));
    latency_ns_.push_back(graph.edges()[i].latency_ns);
    streams_.push_back(item.stream);
    stream_count_ = std::max(stream_count_, item.stream + 1);
  }
}

void step_edit::limit_to(edit_scope const& scope) {
  scope_ = scope;
  scope_of_range_ = instances_of(graph_->recorded(), scope.ranges);
}

bool step_edit::is_of_rank(std::size_t point) const noexcept {
  return scope_.rank == nothing ||
         graph_->lanes().rank_of_lane[graph_->points()[point].lane] == scope_.rank;
}

bool step_edit::is_in_scope(std::size_t point) const noexcept {
  if (!is_of_rank(point)) return false;
  if (scope_.ranges.empty()) return true;
  auto const range = graph_->points()[point].range;
  return range != nothing && scope_of_range_[range] != nothing;
}

/// Work that was launched before the first step has no point, and no range.
bool step_edit::is_meant(name_set const& works, std::uint32_t item) const noexcept {
  auto const& of = graph_->items()[item];
  if (!scope_.items.empty() && !scope_.items[item]) return false;
  if (!has(works, of.name) || (scope_.max_bytes > 0 && of.bytes > scope_.max_bytes)) return false;
  if (scope_.rank != nothing && graph_->recorded().rank_of(of) != scope_.rank) return false;
  auto const launch = launch_of_[item];
  return launch != nothing ? is_in_scope(launch) : scope_.ranges.empty();
}

std::size_t step_edit::next_in_lane(std::size_t point) const noexcept {
  auto const& points = graph_->points();
  auto next = point + 1;
  while (next < points.size() && points[next].lane != points[point].lane) ++next;
  return next;
}

/// Work that stayed of points removed before is passed on in full.
void step_edit::remove_point(std::size_t point, double share_that_stays) {
  if (kept_[point] == 0) return;
  kept_[point] = 0;
  held_[point] = 0;
  if (before_ != cpu_work_before::stays) return;
  auto next = next_in_lane(point);
  while (next < kept_.size() && kept_[next] == 0) next = next_in_lane(next);
  if (next >= work_ns_.size()) return;
  stayed_ns_.resize(work_ns_.size());
  auto const before = std::min(stayed_ns_[point], work_ns_[point]);
  auto const stays = before + scaled(work_ns_[point] - before, share_that_stays);
  work_ns_[next] += stays;
  stayed_ns_[next] += stays;
}

void step_edit::drop(name_set const& works, std::size_t kept, bool with_calls) {
  auto const& points = graph_->points();
  std::vector<std::vector<std::size_t>> calls(graph_->lanes().lanes);  // since the last launch
  std::vector<std::size_t> kept_of_rank(graph_->recorded().ranks());
  for (std::size_t q = 0; q < points.size(); ++q) {
    auto& kept_in_step = kept_of_rank[graph_->lanes().rank_of_lane[points[q].lane]];
    if (points[q].kind == point_kind::step_begin) kept_in_step = 0;
    auto& before = calls[points[q].lane];
    if (points[q].kind == point_kind::call && with_calls && !points[q].is_of_launch())
      before.push_back(q);
    if (points[q].kind != point_kind::launch && points[q].kind != point_kind::step_begin &&
        points[q].items.empty())
      continue;
    auto const prepares = std::exchange(before, {});
    std::size_t hits = 0;
    for (auto const item : points[q].items) hits += is_meant(works, item);
    if (hits == 0) continue;
    if (kept_in_step < kept) {
      ++kept_in_step;
      continue;
    }
    for (auto const item : points[q].items)
      if (is_meant(works, item)) gone_[item] = 1;
    if (hits != points[q].items.size()) continue;
    remove_point(q, share_before_launch);
    for (auto const call : prepares) remove_point(call, share_before_call);
    auto const call = next_in_lane(q);  // it made the launch, and goes with it
    if (call < points.size() && points[call].kind == point_kind::call &&
        points[call].begin_ns == points[q].begin_ns)
      remove_point(call, 0);
  }
}

void step_edit::drop_with_work_behind(name_set const& works) {
  auto const& points = graph_->points();
  auto const is_waited_for = [&](std::size_t q) {
    auto const& hold = graph_->holds()[q];
    return (hold.held_by != nothing && is_meant(works, hold.held_by)) ||
           (hold.waits_for != nothing && is_meant(works, hold.waits_for));
  };
  if (before_ == cpu_work_before::goes)
    for (std::size_t q = 0; q < points.size(); ++q) {
      if (!is_waited_for(q)) continue;
      for (auto next = next_in_lane(q); next < points.size(); next = next_in_lane(next)) {
        work_ns_[next] = std::min(work_ns_[next], graph_->pace().launch_ns);
        if (points[next].kind == point_kind::launch) break;
      }
    }
  drop(works);
}

void step_edit::merge(name_set const& works, double bytes_per_ns) {
  struct merged {
    std::uint32_t first = nothing;
    std::int64_t sum_ns = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<merged> of_rank(graph_->recorded().ranks());
  auto const finish = [&](merged& of) {
    auto const [first, sum_ns, bytes] = std::exchange(of, {});
    auto const at_rate_ns =
        bytes_per_ns > 0 ? static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_ns)
                         : sum_ns;
    if (first != nothing) length_ns_[first] = std::max(length_ns_[first], at_rate_ns);
  };
  for (auto const& point : graph_->points()) {
    auto& here = of_rank[graph_->lanes().rank_of_lane[point.lane]];
    if (point.kind == point_kind::step_begin) finish(here);
    for (auto const item : point.items) {
      if (gone_[item] != 0 || !is_meant(works, item)) continue;
      if (here.first == nothing) here.first = item;
      here.sum_ns += length_ns_[item];
      here.bytes += graph_->items()[item].bytes;
    }
  }
  for (auto& one : of_rank) finish(one);
  drop(works, 1);
}

void step_edit::drop_calls(name_set const& calls, std::int64_t at_most_ns) {
  auto const& points = graph_->points();
  for (std::size_t q = 0; q < points.size(); ++q)
    if (points[q].kind == point_kind::call && has(calls, points[q].name) && is_in_scope(q)) {
      if (at_most_ns == 0)
        remove_point(q, share_before_call);
      else
        call_ns_[q] = std::max<std::int64_t>(0, call_ns_[q] - at_most_ns);
    }
}

void step_edit::scale(name_set const& works, double factor) {
  for (std::uint32_t i = 0; i < length_ns_.size(); ++i)
    if (is_meant(works, i)) length_ns_[i] = scaled(length_ns_[i], factor);
}

void step_edit::scale_calls(name_set const& calls, double factor) {
  auto const& points = graph_->points();
  for (std::size_t q = 0; q < points.size(); ++q)
    if (points[q].kind == point_kind::call && has(calls, points[q].name) && is_in_scope(q))
      call_ns_[q] = scaled(call_ns_[q], factor);
}

void step_edit::scale_calls(double factor) {
  for (std::size_t q = 0; q < call_ns_.size(); ++q)
    if (graph_->holds()[q].waits_for == nothing && is_of_rank(q))
      call_ns_[q] = scaled(call_ns_[q], factor);
}

void step_edit::scale_cpu(name_set const& ranges, double factor) {
  auto const inside = instances_of(graph_->recorded(), ranges);
  auto const& points = graph_->points();
  for (std::size_t q = 0; q < points.size(); ++q)
    if (points[q].range != nothing && inside[points[q].range] != nothing && is_of_rank(q))
      work_ns_[q] = scaled(work_ns_[q], factor);
}

void step_edit::scale_cpu(double factor) {
  for (std::size_t q = 0; q < work_ns_.size(); ++q)
    if (is_of_rank(q)) work_ns_[q] = scaled(work_ns_[q], factor);
}

void step_edit::scale_cpu_longer_than(std::int64_t limit_ns, double factor) {
  for (std::size_t q = 0; q < work_ns_.size(); ++q)
    if (work_ns_[q] >= limit_ns && is_in_scope(q)) work_ns_[q] = scaled(work_ns_[q], factor);
}

void step_edit::scale_cpu_between_steps(double factor) {
  auto const& ranges = graph_->recorded().ranges;
  auto const is_in_step = [&](std::uint32_t range) {
    while (range != nothing && !ranges[range].is_step) range = ranges[range].parent;
    return range != nothing;
  };
  for (std::size_t q = 0; q < work_ns_.size(); ++q) {
    auto const& point = graph_->points()[q];
    if (graph_->lanes().is_of_steps(point.lane) && is_of_rank(q) && !is_in_step(point.range))
      work_ns_[q] = scaled(work_ns_[q], factor);
  }
}

void step_edit::set_launch_cost(double ns) {
  auto const& points = graph_->points();
  auto const change = static_cast<std::int64_t>(ns) - graph_->pace().launch_ns;
  std::vector<std::int64_t> left(graph_->lanes().lanes);  // what its call changes by
  for (std::size_t q = 0; q < points.size(); ++q) {
    auto const& point = points[q];
    auto& rest = left[point.lane];
    if (point.is_of_launch()) call_ns_[q] = std::max<std::int64_t>(0, call_ns_[q] + rest);
    rest = 0;
    if (point.kind != point_kind::launch || !is_of_rank(q)) continue;
    rest = std::min<std::int64_t>(0, work_ns_[q] + change);
    work_ns_[q] = std::max<std::int64_t>(0, work_ns_[q] + change);
  }
}

double step_edit::repeat_cpu_of_steps() {
  std::vector<std::vector<std::size_t>> steps;  // points of the lane of the steps
  for (std::size_t q = 0; q < work_ns_.size(); ++q) {
    auto const& point = graph_->points()[q];
    if (point.lane != 0) continue;
    // The work before the begin of a step belongs to the step before it.
    if (!steps.empty()) steps.back().push_back(q);
    if (point.kind == point_kind::step_begin) steps.emplace_back();
  }
  std::size_t all = 0, paired = 0;
  for (auto const& step : steps) all += step.size();
  for (std::size_t i = 0; i + 1 < steps.size(); i += 2) {
    if (steps[i].size() != steps[i + 1].size()) continue;
    for (std::size_t k = 0; k < steps[i].size(); ++k)
      work_ns_[steps[i + 1][k]] = work_ns_[steps[i][k]];
    paired += 2 * steps[i].size();
  }
  return all > 0 ? static_cast<double>(paired) / static_cast<double>(all) : 0;
}

void step_edit::as_graph(name_set const& ranges) {
  auto const inside = instances_of(graph_->recorded(), ranges);
  auto const& points = graph_->points();
  std::unordered_map<std::uint32_t, bool> is_launched;
  for (std::size_t q = 0; q < points.size(); ++q) {
    auto const range = points[q].range == nothing ? nothing : inside[points[q].range];
    if (range == nothing || points[q].kind != point_kind::launch || kept_[q] == 0 || !is_of_rank(q))
      continue;
    auto const [_, is_first] = is_launched.try_emplace(range, true);
    work_ns_[q] = is_first ? graph_launch_ns : 0;
    for (auto const item : points[q].items) latency_ns_[item] = graph_->pace().latency_ns;
  }
}

void step_edit::launch_together(std::size_t least, std::size_t most, double node_ns) {
  struct row_of_launches {
    std::vector<std::size_t> launches;
    std::vector<std::size_t> returns;  // calls that made the launches, if they were recorded
  };
  auto const& points = graph_->points();
  std::vector<row_of_launches> rows(graph_->lanes().lanes);
  auto const join = [&](row_of_launches& row) {
    auto const made = std::exchange(row, {});
    if (made.launches.size() < least) return;
    for (std::size_t k = 0; k < made.launches.size(); ++k) {
      auto const q = made.launches[k];
      auto const is_call_known = made.returns.size() == made.launches.size();
      if (k % most == 0) {
        if (most > 2 && points[q].work_ns <= static_cast<std::int64_t>(own_work_ns))
          work_ns_[q] = std::min(work_ns_[q], graph_launch_ns);
        continue;
      }
      join_to_launch_before(q, is_call_known ? 0 : graph_->pace().launch_ns, node_ns);
      if (is_call_known) call_ns_[made.returns[k]] = 0;
    }
  };
  for (std::size_t q = 0; q < points.size(); ++q) {
    auto const& point = points[q];
    auto& row = rows[point.lane];
    if (point.kind == point_kind::range_mark || kept_[q] == 0) continue;
    if (point.kind == point_kind::launch && is_in_scope(q) && held_[q] == 0) {
      if (points[q].work_ns > static_cast<std::int64_t>(own_work_ns)) join(row);
      row.launches.push_back(q);
    } else if (point.is_of_launch() && !row.launches.empty() && held_[q] == 0)
      row.returns.push_back(q);
    else
      join(row);
  }
  for (auto& row : rows) join(row);
}

void step_edit::join_to_launch_before(std::size_t point, std::int64_t launch_ns, double node_ns) {
  auto& work_ns = work_ns_[point];
  work_ns = before_ == cpu_work_before::goes ? 0 : std::max<std::int64_t>(0, work_ns - launch_ns);
  for (auto const item : graph_->points()[point].items) {
    latency_ns_[item] = std::min(latency_ns_[item], graph_->pace().latency_ns);
    auto const before = graph_->edges()[item].before;
    if (node_ns > 0 && before != nothing)
      pause_ns_[item] =
          std::max<std::int64_t>(0, static_cast<std::int64_t>(node_ns) - length_ns_[before]);
  }
}

void step_edit::set_round_trip(double ns) {
  std::vector<std::int64_t> returns;
  for (std::size_t q = 0; q < graph_->points().size(); ++q)
    if (graph_->holds()[q].waits_for != nothing && is_wait(graph_->points()[q].call))
      returns.push_back(graph_->holds()[q].returns_after_ns);
  if (returns.empty()) return;
  auto const middle = returns.begin() + static_cast<std::ptrdiff_t>(returns.size() / 2);
  std::nth_element(returns.begin(), middle, returns.end());
  return_sooner_ns_ = std::max<std::int64_t>(
      0, *middle + graph_->pace().latency_ns - static_cast<std::int64_t>(ns));
}

void step_edit::set_latency(double ns) {
  auto const sooner = graph_->pace().latency_ns - static_cast<std::int64_t>(ns);
  if (sooner <= 0) return;
  for (auto& latency_ns : latency_ns_) latency_ns = std::max<std::int64_t>(0, latency_ns - sooner);
}

void step_edit::pin(double to_device_bytes_per_ns, double to_host_bytes_per_ns) {
  auto const& points = graph_->points();
  auto const rate_of = [&](std::uint32_t i) {
    auto const& item = graph_->items()[i];
    auto const is_there = launch_of_[i] == nothing || is_in_scope(launch_of_[i]);
    if (!item.is_pageable || !is_there) return 0.0;
    return item.to_host ? to_host_bytes_per_ns : to_device_bytes_per_ns;
  };
  for (std::uint32_t i = 0; i < length_ns_.size(); ++i) {
    auto const& item = graph_->items()[i];
    auto const rate = rate_of(i);
    if (rate <= 0) continue;
    length_ns_[i] =
        std::min(length_ns_[i], static_cast<std::int64_t>(static_cast<double>(item.bytes) / rate));
  }
  for (std::size_t q = 0; q < points.size(); ++q) {
    if (held_[q] == 0 || rate_of(graph_->holds()[q].held_by) <= 0) continue;
    held_[q] = 0;
    if (auto const next = next_in_lane(q); next < work_ns_.size())
      work_ns_[next] = std::max(work_ns_[next], pinned_launch_ns);
  }
}

void step_edit::overlap(name_set const& works, bool is_early) {
  constexpr std::uint8_t has_meant = 1, has_other = 2;
  std::vector<std::uint8_t> holds(stream_count_);
  for (std::uint32_t i = 0; i < streams_.size(); ++i)
    holds[streams_[i]] |= is_meant(works, i) ? has_meant : has_other;
  auto const is_alone = [&](std::uint32_t item) {
    return holds[graph_->items()[item].stream] == has_meant;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> own;  // by the stream that it leaves
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    if (!is_meant(works, i) || is_alone(i)) continue;
    auto const [stream, is_new] = own.try_emplace(streams_[i], stream_count_);
    if (is_new) ++stream_count_;
    streams_[i] = stream->second;
    latency_ns_[i] = graph_->pace().latency_ns;
  }
  for (std::size_t i = 0; i < waits_for_none_.size(); ++i) {
    auto const other = graph_->edges()[i].other;
    if (other != nothing && is_meant(works, other) && (is_early || is_alone(other)))
      waits_for_none_[i] = 1;
  }
}

void step_edit::free_streams() {
  for (std::size_t i = 0; i < waits_for_none_.size(); ++i) {
    auto const launch = launch_of_[i];
    if (launch != nothing && is_in_scope(launch)) waits_for_none_[i] = 1;
  }
}

}  // namespace gpuprof::host::replay
