// SPDX-License-Identifier: Apache-2.0
#include "host/replay/replay.hpp"

#include <algorithm>

namespace gpuprof::host::replay {
namespace {

constexpr std::int64_t long_ago_ns = -1'000'000'000'000;

class one_replay {
 public:
  explicit one_replay(step_edit const& edit)
      : edit_(edit),
        graph_(edit.graph()),
        streams_(edit.stream_count(), nothing),
        lanes_(graph_.lanes().lanes) {
    made_.items.resize(graph_.items().size());
    made_.points.resize(graph_.points().size());
    for (auto const& item : graph_.items())
      if (item.device >= queues_.size()) queues_.resize(std::size_t{item.device} + 1);
  }

  replayed_steps run() {
    carry_over();
    for (std::uint32_t q = 0; q < made_.points.size(); ++q)
      if (edit_.kept_points()[q] != 0) pass(q);
    made_.last_point = lanes_.front().last;
    if (made_.last_point != nothing) made_.end_ns = lanes_.front().now_ns;
    for (std::uint32_t i = 0; i < made_.items.size(); ++i)
      if (edit_.gone_items()[i] == 0 && made_.items[i].end_ns > made_.end_ns) {
        made_.end_ns = made_.items[i].end_ns;
        made_.last_item = i;
      }
    return std::move(made_);
  }

 private:
  struct lane {
    std::int64_t now_ns = 0;
    std::uint32_t last = nothing;  // point
    std::uint32_t step = nothing;  // the step that it has begun
  };

  /// Takes over items that were launched before the first step and have not ended.
  void carry_over() {
    for (std::uint32_t i = 0; i < made_.items.size(); ++i) {
      auto const& item = graph_.items()[i];
      if (item.launched_ns >= 0 || edit_.gone_items()[i] != 0) continue;
      if (item.start_ns < 0) {
        made_.items[i] = {constraint::begin, nothing, item.start_ns, item.end_ns};
        streams_[edit_.streams()[i]] = i;
      } else {
        begin_item(i, nothing, item.start_ns - edit_.latency_ns()[i]);
      }
      made_.begin_ns = std::max(made_.begin_ns, made_.items[i].end_ns);
      queues_[item.device].push_back(i);
    }
  }

  void pass(std::uint32_t q) {
    auto const& point = graph_.points()[q];
    auto& of = lanes_[point.lane];
    replayed_moment moment{of.last == nothing ? constraint::begin : constraint::lane, of.last,
                           of.now_ns + edit_.work_ns()[q], 0};
    if (point.lane != 0 && of.step != step_) follow_step(point, of, moment);
    if (point.kind == point_kind::step_begin && point.lane == 0) step_ = q;
    if (point.kind == point_kind::launch) wait_for_queue(point, moment);
    moment.end_ns = moment.begin_ns + edit_.call_ns()[q];
    if (point.kind == point_kind::launch) launch(q, moment);
    if (point.kind == point_kind::call) {
      wait_in_call(q, moment);
      hold_thread(q, moment);
    }
    of.now_ns = moment.end_ns;
    of.last = q;
    made_.points[q] = moment;
  }

  /// A thread beside that of the steps begins its part of a step as long after the begin of the
  /// step as was recorded. How it learns of the step is not recorded.
  void follow_step(cpu_point const& point, lane& of, replayed_moment& moment) {
    of.step = step_;
    if (step_ == nothing) return;
    auto const after = point.begin_ns - graph_.points()[step_].begin_ns;
    auto const begin = made_.points[step_].begin_ns + after;
    moment.begin_ns = of.now_ns;
    if (begin < moment.begin_ns) return;
    moment.begin_ns = begin;
    moment.by = constraint::step;
    moment.from = step_;
  }

  void wait_for_queue(cpu_point const& point, replayed_moment& moment) {
    auto const length = graph_.pace().queue;
    auto const& queue = queues_[graph_.items()[point.items.front()].device];
    if (length == 0 || queue.size() < length) return;
    auto const item = queue[queue.size() - length];
    if (item == nothing || made_.items[item].end_ns <= moment.begin_ns) return;
    moment.begin_ns = made_.items[item].end_ns;
    moment.by = constraint::queue;
    moment.from = item;
  }

  void launch(std::uint32_t q, replayed_moment& moment) {
    auto const& point = graph_.points()[q];
    auto last = nothing;
    for (auto const item : point.items) {
      if (edit_.gone_items()[item] != 0) continue;
      begin_item(item, q, moment.begin_ns);
      if (last == nothing || made_.items[item].end_ns > made_.items[last].end_ns) last = item;
    }
    queues_[graph_.items()[point.items.front()].device].push_back(last);
    hold_thread(q, moment);
  }

  /// A copy from or to pageable memory.
  void hold_thread(std::uint32_t q, replayed_moment& moment) {
    auto const& hold = graph_.holds()[q];
    if (edit_.held_points()[q] == 0 || edit_.gone_items()[hold.held_by] != 0) return;
    auto const is_call = graph_.points()[q].kind == point_kind::call;
    auto const after_ns =
        is_call ? hold.held_after_ns : std::min<std::int64_t>(0, hold.held_after_ns);
    auto const free = made_.items[hold.held_by].end_ns + after_ns;
    if (free <= moment.end_ns) return;
    moment.end_ns = free;
    moment.by = constraint::hold;
    moment.from = hold.held_by;
  }

  void begin_item(std::uint32_t i, std::uint32_t q, std::int64_t now_ns) {
    auto const& edge = graph_.edges()[i];
    auto const& pace = graph_.pace();
    auto const is_moved = edit_.streams()[i] != graph_.items()[i].stream;
    auto const before = streams_[edit_.streams()[i]];
    auto const free_ns = before == nothing ? long_ago_ns : made_.items[before].end_ns;
    auto const waits_for_other = edge.other != nothing && edit_.gone_items()[edge.other] == 0 &&
                                 edit_.waits_for_none()[i] == 0;
    auto& item = made_.items[i];
    auto const latency_ns = waits_for_other || edge.is_queued || edge.other != nothing
                                ? std::min(edit_.latency_ns()[i], pace.latency_ns)
                                : edit_.latency_ns()[i];
    item = {constraint::launch, q, now_ns + latency_ns, 0};
    auto const pause_ns = edit_.pause_ns()[i];
    auto const after_ns = free_ns + (pause_ns != step_edit::pause_of_graph ? pause_ns
                                     : edge.is_queued && !is_moved && edge.other == nothing
                                         ? edge.gap_ns
                                         : std::min(pace.pause_ns, pause_of(edge, is_moved)));
    if (before != nothing && after_ns > item.begin_ns)
      item = {constraint::stream, before, after_ns, 0};
    if (waits_for_other) {
      auto const other_ns = made_.items[edge.other].end_ns + edge.other_gap_ns;
      if (other_ns > item.begin_ns) item = {constraint::other, edge.other, other_ns, 0};
    }
    item.end_ns = item.begin_ns + edit_.length_ns()[i];
    streams_[edit_.streams()[i]] = i;
  }
  /// An item that began sooner after the one before it than usual may do so again.
  std::int64_t pause_of(graph_item const& edge, bool is_moved) const noexcept {
    return is_moved || edge.before == nothing ? graph_.pace().pause_ns : edge.gap_ns;
  }

  /// The call returns after the item that it waited for, or the one before that in its stream.
  void wait_in_call(std::uint32_t q, replayed_moment& moment) {
    auto const& hold = graph_.holds()[q];
    auto item = hold.waits_for;
    while (item != nothing && edit_.gone_items()[item] != 0) item = graph_.edges()[item].before;
    if (item == nothing) return;
    auto const sooner_ns = is_wait(graph_.points()[q].call) ? edit_.return_sooner_ns() : 0;
    auto const end_ns =
        made_.items[item].end_ns + std::max(std::min<std::int64_t>(0, hold.returns_after_ns),
                                            hold.returns_after_ns - sooner_ns);
    if (end_ns <= moment.end_ns) return;
    moment.end_ns = end_ns;
    moment.by = constraint::wait;
    moment.from = item;
  }

  step_edit const& edit_;
  step_graph const& graph_;
  replayed_steps made_;
  std::vector<std::uint32_t> streams_;  // the last item of each
  std::vector<lane> lanes_;
  std::vector<std::vector<std::uint32_t>> queues_;  // by GPU: the last item of each launch
  std::uint32_t step_ = nothing;
};

}  // namespace

replayed_steps replay(step_edit const& edit) {
  return one_replay(edit).run();
}

double step_ns(step_edit const& edit) {
  return replay(edit).total_ns() / std::max<double>(1, edit.graph().recorded().steps);
}

}  // namespace gpuprof::host::replay
