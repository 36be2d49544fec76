// SPDX-License-Identifier: Apache-2.0
#include "host/replay/replay.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::host::replay {
namespace {

constexpr std::int64_t long_ago_ns = -1'000'000'000'000;

class one_replay {
 public:
  explicit one_replay(step_edit const& edit)
      : edit_(edit),
        graph_(edit.graph()),
        streams_(edit.stream_count(), nothing),
        lanes_(graph_.lanes().lanes),
        steps_(graph_.recorded().ranks(), nothing),
        states_(graph_.items().size()) {
    made_.items.resize(graph_.items().size());
    made_.points.resize(graph_.points().size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].now_ns = graph_.lanes().begin_ns[i];
    for (auto const& item : graph_.items())
      if (item.device >= queues_.size()) queues_.resize(std::size_t{item.device} + 1);
  }

  replayed_steps run() {
    carry_over();
    for (auto const q : graph_.order())
      if (edit_.kept_points()[q] != 0) pass(q);
    made_.last_point = lanes_.front().last;
    if (made_.last_point != nothing) made_.end_ns = lanes_.front().now_ns;
    for (std::uint32_t i = 0; i < made_.items.size(); ++i)
      if (edit_.gone_items()[i] == 0 && end_of(i) > made_.end_ns) {
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
  struct item_state {
    std::uint32_t before = nothing;  // the item before it in its stream
    bool is_launched = false, has_begin = false, has_end = false;
    bool is_begin_asked = false, is_end_asked = false;  // of what it waits for
  };

  /// Takes over items that were launched before the first step and have not ended.
  void carry_over() {
    std::vector<std::uint32_t> carried;
    for (std::uint32_t i = 0; i < made_.items.size(); ++i) {
      auto const& item = graph_.items()[i];
      if (!item.is_from_before || edit_.gone_items()[i] != 0) continue;
      if (item.start_ns < 0) {
        made_.items[i] = {constraint::begin, nothing, item.start_ns, item.end_ns, nothing};
        auto& state = states_[i];
        state.is_launched = state.has_begin = state.has_end = true;
        streams_[edit_.streams()[i]] = i;
      } else {
        launch_item(i, nothing, item.start_ns - edit_.latency_ns()[i]);
      }
      carried.push_back(i);
      queues_[item.device].push_back(i);
    }
    made_.begin_ns = lanes_.front().now_ns;
    for (auto const i : carried) made_.begin_ns = std::max(made_.begin_ns, end_of(i));
  }

  void pass(std::uint32_t q) {
    auto const& point = graph_.points()[q];
    auto& of = lanes_[point.lane];
    replayed_moment moment{of.last == nothing ? constraint::begin : constraint::lane, of.last,
                           of.now_ns + edit_.work_ns()[q], 0, nothing};
    auto& step = steps_[graph_.lanes().rank_of_lane[point.lane]];
    auto const is_of_steps = graph_.lanes().is_of_steps(point.lane);
    if (!is_of_steps && of.step != step) follow_step(point, step, of, moment);
    if (is_of_steps && point.kind == point_kind::step_begin) step = q;
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
  void follow_step(cpu_point const& point, std::uint32_t step, lane& of, replayed_moment& moment) {
    of.step = step;
    if (step == nothing) return;
    auto const after = point.begin_ns - graph_.points()[step].begin_ns;
    auto const begin = made_.points[step].begin_ns + after;
    moment.begin_ns = of.now_ns;
    if (begin < moment.begin_ns) return;
    moment.begin_ns = begin;
    moment.by = constraint::step;
    moment.from = step;
  }

  void wait_for_queue(cpu_point const& point, replayed_moment& moment) {
    auto const length = graph_.pace().queue;
    auto const& queue = queues_[graph_.items()[point.items.front()].device];
    if (length == 0 || queue.size() < length) return;
    auto const item = queue[queue.size() - length];
    if (item == nothing || end_of(item) <= moment.begin_ns) return;
    moment.begin_ns = made_.items[item].end_ns;
    moment.by = constraint::queue;
    moment.from = item;
  }

  void launch(std::uint32_t q, replayed_moment& moment) {
    auto const& point = graph_.points()[q];
    auto last = nothing;
    for (auto const item : point.items) {
      if (edit_.gone_items()[item] != 0) continue;
      launch_item(item, q, moment.begin_ns);
      if (last == nothing || !states_[item].has_end ||
          (states_[last].has_end && made_.items[item].end_ns > made_.items[last].end_ns))
        last = item;
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
    auto const free = end_of(hold.held_by) + after_ns;
    if (free <= moment.end_ns) return;
    moment.end_ns = free;
    moment.by = constraint::hold;
    moment.from = hold.held_by;
  }

  void launch_item(std::uint32_t i, std::uint32_t q, std::int64_t now_ns) {
    auto& state = states_[i];
    state.is_launched = true;
    state.before = std::exchange(streams_[edit_.streams()[i]], i);
    auto const& edge = graph_.edges()[i];
    auto const latency_ns = edge.is_queued || edge.other != nothing
                                ? std::min(edit_.latency_ns()[i], graph_.pace().latency_ns)
                                : edit_.latency_ns()[i];
    made_.items[i] = {constraint::launch, q, now_ns + latency_ns, 0, nothing};
    auto const is_known = [&](std::uint32_t other) {
      return other == nothing || states_[other].has_end;
    };
    if (graph_.items()[i].meeting != nothing || !is_known(state.before) || !is_known(awaited(i)))
      return;
    find_begin(i);
    find_end(i);
  }

  /// The item of another stream that this one waits for.
  std::uint32_t awaited(std::uint32_t i) const noexcept {
    auto const other = graph_.edges()[i].other;
    return other != nothing && edit_.gone_items()[other] == 0 && edit_.waits_for_none()[i] == 0
               ? other
               : nothing;
  }

  /// Parts of a collective wait for parts that other ranks launch later, so ends are found when
  /// something asks for them. By then, all that an item waited for in the recording is launched.
  std::int64_t end_of(std::uint32_t item) {
    if (!states_[item].has_end && states_[item].is_launched) settle(item);
    return made_.items[item].end_ns;
  }

  void settle(std::uint32_t item) {
    struct question {
      std::uint32_t item;
      bool is_of_end;
    };
    std::vector<question> open{{item, true}};
    auto const ask = [&](std::uint32_t other, bool is_of_end) {
      if (other == nothing || !states_[other].is_launched) return;
      if (is_of_end ? states_[other].has_end : states_[other].has_begin) return;
      open.push_back({other, is_of_end});
    };
    while (!open.empty()) {
      auto const [i, is_of_end] = open.back();
      auto& state = states_[i];
      auto const count = open.size();
      if (!state.has_begin) {
        // Asked before: recorded times of two ranks contradict each other by the error of clocks.
        if (!std::exchange(state.is_begin_asked, true)) {
          ask(state.before, true);
          ask(awaited(i), true);
        }
        if (open.size() == count) find_begin(i);
      } else if (is_of_end && !state.has_end) {
        if (graph_.items()[i].meeting != nothing && !std::exchange(state.is_end_asked, true))
          for (auto const part : graph_.meetings()[graph_.items()[i].meeting]) ask(part, false);
        if (open.size() == count) find_end(i);
      } else {
        open.pop_back();
      }
    }
  }

  void find_begin(std::uint32_t i) {
    auto const& edge = graph_.edges()[i];
    auto const& pace = graph_.pace();
    auto& state = states_[i];
    auto& item = made_.items[i];
    state.has_begin = true;
    auto const is_moved = edit_.streams()[i] != graph_.items()[i].stream;
    auto const before = state.before;
    auto const free_ns = before == nothing ? long_ago_ns : made_.items[before].end_ns;
    auto const pause_ns = edit_.pause_ns()[i];
    auto const after_ns = free_ns + (pause_ns != step_edit::pause_of_graph ? pause_ns
                                     : edge.is_queued && !is_moved && edge.other == nothing
                                         ? edge.gap_ns
                                         : std::min(pace.pause_ns, pause_of(edge, is_moved)));
    if (before != nothing && after_ns > item.begin_ns)
      item = {constraint::stream, before, after_ns, 0, nothing};
    auto const other = awaited(i);
    if (other == nothing) return;
    auto const other_ns = made_.items[other].end_ns + edge.other_gap_ns;
    if (other_ns > item.begin_ns) item = {constraint::other, other, other_ns, 0, nothing};
  }

  void find_end(std::uint32_t i) {
    auto& item = made_.items[i];
    states_[i].has_end = true;
    item.end_ns = item.begin_ns + edit_.length_ns()[i];
    auto const meeting = graph_.items()[i].meeting;
    if (meeting == nothing) return;
    auto last = i;
    for (auto const part : graph_.meetings()[meeting]) {
      if (edit_.gone_items()[part] != 0) continue;
      if (!states_[part].has_begin) {  // it waits as long as it did
        item.end_ns += graph_.items()[i].length_ns() - graph_.lasting_ns(i);
        return;
      }
      if (made_.items[part].begin_ns > made_.items[last].begin_ns) last = part;
    }
    if (last == i) return;
    item.waited_for = last;
    item.end_ns = made_.items[last].begin_ns + edit_.length_ns()[i];
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
    auto const end_ns = end_of(item) + std::max(std::min<std::int64_t>(0, hold.returns_after_ns),
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
  std::vector<std::uint32_t> steps_;                // by rank: the step that its thread is in
  std::vector<item_state> states_;
};

}  // namespace

replayed_steps replay(step_edit const& edit) {
  return one_replay(edit).run();
}

double step_ns(step_edit const& edit) {
  return replay(edit).total_ns() / std::max<double>(1, edit.graph().recorded().steps);
}

}  // namespace gpuprof::host::replay
