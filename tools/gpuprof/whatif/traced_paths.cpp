// SPDX-License-Identifier: Apache-2.0
#include "whatif/traced_paths.hpp"

#include "whatif/replay_check.hpp"

#include <algorithm>

namespace gpuprof::host::command {
namespace {

using replay::path_part;

class link_maker {
 public:
  link_maker(replay::step_graph const& graph, steps_of_capture const& read,
             trace_contents const& trace)
      : graph_(graph), read_(read), trace_(trace) {}

  traced_path path_of(replay::path_of_group const& group) const {
    traced_path made;
    for (auto const& one : group.longest) {
      if (one.end_ns <= one.begin_ns) continue;
      auto const begin = moment(one.begin_ns), end = moment(one.end_ns);
      if (made.begin.value == 0) made.begin = begin;
      made.end = end;
      if (one.part == path_part::start || one.part == path_part::unexplained) continue;
      auto link = one.is_item ? of_item(one) : of_point(one);
      link.begin = begin;
      link.end = end;
      link.kind = replay::key_of(one.part);
      add(made.links, std::move(link));
    }
    return made;
  }

 private:
  /// CPU work is one link, although launches lie in between.
  static void add(std::vector<traced_link>& to, traced_link link) {
    if (!to.empty() && !link.is_on_gpu) {
      auto& last = to.back();
      if (last.end == link.begin && last.kind == link.kind && last.name == link.name &&
          last.os_thread == link.os_thread && !last.is_on_gpu) {
        last.end = link.end;
        return;
      }
    }
    to.push_back(std::move(link));
  }

  timestamp_ns moment(std::int64_t since_begin_ns) const noexcept {
    return read_.begin + duration_ns{since_begin_ns};
  }

  traced_link of_item(replay::path_stretch const& one) const {
    auto const& item = graph_.items()[one.element];
    auto const& names = graph_.recorded().base_names;
    traced_link link;
    link.name = names.empty() ? graph_.recorded().work_names[item.name] : names[item.name];
    link.is_on_gpu = true;
    link.device = device_id{item.device};
    link.stream = read_.streams[item.stream];
    return link;
  }

  traced_link of_point(replay::path_stretch const& one) const {
    auto const& recorded = graph_.recorded();
    auto const thread = graph_.points()[one.element].thread;
    traced_link link;
    if (one.name != replay::nothing)
      link.name =
          (one.part == path_part::calls ? recorded.call_names : recorded.range_names)[one.name];
    link.os_thread = (thread & not_known_thread) != 0 ? thread & ~not_known_thread
                                                      : trace_.os_thread(thread_index{thread});
    return link;
  }

  replay::step_graph const& graph_;
  steps_of_capture const& read_;
  trace_contents const& trace_;
};

}  // namespace

std::vector<traced_path> traced_paths_of(replay::step_paths const& paths,
                                         replay::step_graph const& graph,
                                         steps_of_capture const& read,
                                         trace_contents const& trace) {
  std::vector<traced_path> made;
  if (paths.steps == 0) return made;
  link_maker const maker(graph, read, trace);
  made.push_back(maker.path_of(paths.median));
  if (paths.steps > 1) {
    made.push_back(maker.path_of(paths.slowest));
    made.back().is_slowest = true;
  }
  for (auto& path : made) {
    path.step = read.name;
    path.steps = paths.steps;
  }
  return made;
}

std::vector<traced_path> read_traced_paths(trace_contents& trace) {
  steps_question question;
  question.max_items = max_items_of_findings;
  auto read = read_steps(trace, question);
  if (!read) return {};
  replay::step_graph const graph(std::move(read->steps));
  replay::step_edit const unchanged(graph);
  auto const replayed = replay::replay(unchanged);
  auto const step_ns = replayed.total_ns() / std::max<double>(1, graph.recorded().steps);
  if (!why_not_replayed(graph, step_ns).empty()) return {};
  return traced_paths_of(replay::step_paths_of(unchanged, replayed, 0), graph, *read, trace);
}

}  // namespace gpuprof::host::command
