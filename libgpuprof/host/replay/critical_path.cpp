// SPDX-License-Identifier: Apache-2.0
#include "host/replay/critical_path.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace gpuprof::host::replay {
namespace {

/// Walks back from the end, each time to the element that determined the moment.
class walk_back {
 public:
  walk_back(step_edit const& edit, replayed_steps const& replayed)
      : edit_(edit), graph_(edit.graph()), replayed_(replayed), at_ns_(replayed.end_ns) {}

  stretches_of_path run() {
    is_item_ = replayed_.last_item != nothing;
    index_ = is_item_ ? replayed_.last_item : replayed_.last_point;
    // Each step of the walk goes to an earlier element, so this many are enough.
    for (auto left = replayed_.items.size() + replayed_.points.size() + 1;
         left > 0 && index_ != nothing && at_ns_ > replayed_.begin_ns; --left)
      is_item_ ? leave_item() : leave_point();
    return std::move(made_);
  }

 private:
  void spend(path_part part, std::int64_t until_ns, std::uint32_t name = nothing) {
    auto const from_ns = std::max(until_ns, replayed_.begin_ns);
    if (at_ns_ <= from_ns) return;
    made_.path.push_back({from_ns, at_ns_, part, name, is_item_, index_});
    at_ns_ = from_ns;
  }

  void leave_item() {
    auto const& item = graph_.items()[index_];
    auto const& moment = replayed_.items[index_];
    if (moment.waited_for != nothing && replayed_.items[moment.waited_for].begin_ns < at_ns_) {
      spend(path_part::kernels, replayed_.items[moment.waited_for].begin_ns, item.name);
      index_ = moment.waited_for;
      return;
    }
    spend(item.kind == work_kind::copy ? path_part::copies : path_part::kernels, moment.begin_ns,
          item.name);
    if (moment.by == constraint::other) note_inferred(moment);
    auto const cause_ns = moment.from == nothing            ? moment.begin_ns
                          : moment.by == constraint::launch ? replayed_.points[moment.from].begin_ns
                                                            : replayed_.items[moment.from].end_ns;
    auto const delay_ns = std::min(unexplained_ns(moment.by), moment.begin_ns - cause_ns);
    if (delay_ns > 0) spend(path_part::unexplained, moment.begin_ns - delay_ns);
    spend(path_part::start, cause_ns);
    is_item_ = moment.by != constraint::launch;
    is_launch_ = !is_item_;
    index_ = moment.from;
  }

  /// Returns the part of the unexplained delay that the edit has left.
  std::int64_t unexplained_ns(constraint by) const {
    auto const& edge = graph_.edges()[index_];
    if (by == constraint::launch)
      return edge.unexplained_ns - (edge.latency_ns - edit_.latency_ns()[index_]);
    return by == constraint::stream && edge.is_queued ? edge.unexplained_ns : 0;
  }

  void note_inferred(replayed_moment const& moment) {
    auto const q = point_of(index_);
    auto known_ns =
        q == nothing ? replayed_.begin_ns : replayed_.points[q].begin_ns + graph_.pace().latency_ns;
    if (auto const before = graph_.edges()[index_].before; before != nothing)
      known_ns = std::max(known_ns, replayed_.items[before].end_ns + graph_.pace().pause_ns);
    auto const until_ns = std::min(moment.begin_ns, inferred_from_ns_);
    if (until_ns <= known_ns) return;
    made_.inferred.push_back({known_ns, until_ns, {}, nothing, true, index_});
    inferred_from_ns_ = known_ns;
  }

  void leave_point() {
    auto const& moment = replayed_.points[index_];
    auto const waited = moment.by == constraint::wait || moment.by == constraint::hold;
    if (waited && !is_launch_) {
      spend(path_part::calls, replayed_.items[moment.from].end_ns, graph_.points()[index_].name);
      is_item_ = true;
      index_ = moment.from;
      return;
    }
    if (!is_launch_) spend(path_part::calls, moment.begin_ns, graph_.points()[index_].name);
    is_launch_ = false;
    if (moment.by == constraint::queue) {
      is_item_ = true;
      index_ = moment.from;
      return;
    }
    auto const before = moment.by == constraint::step ? moment.from : previous_of(index_);
    auto const range = graph_.points()[index_].range;
    spend(path_part::cpu_work,
          before == nothing               ? replayed_.begin_ns
          : moment.by == constraint::step ? replayed_.points[before].begin_ns
                                          : replayed_.points[before].end_ns,
          range == nothing ? nothing : graph_.recorded().ranges[range].name);
    index_ = before;
  }

  /// The kept point before it in its lane.
  std::uint32_t previous_of(std::uint32_t q) const noexcept {
    auto const lane = graph_.points()[q].lane;
    while (q-- > 0)
      if (graph_.points()[q].lane == lane && edit_.kept_points()[q] != 0) return q;
    return nothing;
  }
  std::uint32_t point_of(std::uint32_t item) const noexcept {
    auto const launched = graph_.items()[item].launched_ns;
    auto const& points = graph_.points();
    auto at = std::lower_bound(points.begin(), points.end(), launched,
                               [](auto const& p, auto ns) { return p.begin_ns < ns; });
    for (; at != points.end() && at->begin_ns == launched; ++at)
      if (std::find(at->items.begin(), at->items.end(), item) != at->items.end())
        return static_cast<std::uint32_t>(at - points.begin());
    return nothing;
  }

  step_edit const& edit_;
  step_graph const& graph_;
  replayed_steps const& replayed_;
  stretches_of_path made_;
  std::int64_t at_ns_;
  std::int64_t inferred_from_ns_ = std::numeric_limits<std::int64_t>::max();
  std::uint32_t index_ = nothing;
  bool is_item_ = false;
  bool is_launch_ = false;  // the point is reached from what it launched
};

}  // namespace

std::string_view name_of(path_part part) noexcept {
  switch (part) {
    case path_part::kernels:
      return "kernels";
    case path_part::copies:
      return "copies";
    case path_part::cpu_work:
      return "CPU work";
    case path_part::calls:
      return "calls";
    case path_part::start:
      return "starting work on the GPU";
    case path_part::unexplained:
      return "unexplained delays";
  }
  return {};
}

std::string_view key_of(path_part part) noexcept {
  constexpr std::string_view keys[] = {"kernels", "copies", "cpu_work",
                                       "calls",   "start",  "unexplained"};
  static_assert(std::size(keys) == path_part_count);
  return keys[static_cast<std::size_t>(part)];
}

double critical_path::total_ns() const noexcept {
  return std::accumulate(ns.begin(), ns.end(), 0.0);
}

stretches_of_path stretches_of(step_edit const& edit, replayed_steps const& replayed) {
  return walk_back(edit, replayed).run();
}

critical_path path_of(step_edit const& edit, replayed_steps const& replayed) {
  auto const all = stretches_of(edit, replayed);
  auto const steps = std::max<double>(1, edit.graph().recorded().steps);
  critical_path path;
  for (auto const& one : all.path)
    path[one.part] += static_cast<double>(one.end_ns - one.begin_ns) / steps;
  for (auto const& one : all.inferred)
    path.inferred_ns += static_cast<double>(one.end_ns - one.begin_ns) / steps;
  return path;
}

}  // namespace gpuprof::host::replay
