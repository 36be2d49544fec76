// SPDX-License-Identifier: Apache-2.0
#include "report_page/stack_document.hpp"

#include "host/analysis/module_tree.hpp"
#include "host/export/weighed_stacks.hpp"
#include "host/report/json_object.hpp"
#include "lines/source_texts.hpp"
#include "model/own_files.hpp"
#include "report_page/json_members.hpp"
#include "texts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

constexpr double least_share = 0.0002;

struct timed_by {
  std::string_view name, own;
  double stack_sum::*sum;
};
constexpr std::array<timed_by, 4> times_of_place{{{"gpu_ns", "own_gpu_ns", &stack_sum::gpu_ns},
                                                  {"cpu_ns", "own_cpu_ns", &stack_sum::cpu_ns},
                                                  {"idle_ns", "own_idle_ns", &stack_sum::idle_ns},
                                                  {"wait_ns", "own_wait_ns", &stack_sum::wait_ns}}};

struct place {
  std::size_t parent = 0;  // the first place is around all others
  std::uint32_t frame = 0;
  stack_sum own, total;
};

std::vector<place> places_of(weighed_stacks const& all) {
  std::vector<place> places(1);
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> known;
  for (auto const& [frames, sum] : all.stacks()) {
    std::size_t at = 0;
    places[at].total += sum;
    for (auto const frame : frames) {
      auto const [found, is_new] = known.try_emplace({at, frame}, places.size());
      if (is_new) places.push_back({at, frame, {}, {}});
      at = found->second;
      places[at].total += sum;
    }
    places[at].own += sum;
  }
  return places;
}

/// Places with little time count for the one around them. Parents come before what is inside.
void join_small(std::vector<place>& places) {
  auto const& whole = places.front().total;
  std::vector<bool> keeps(places.size());
  std::vector<std::size_t> number(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    keeps[i] = i == 0 ||
               std::any_of(times_of_place.begin(), times_of_place.end(), [&](timed_by const& by) {
                 return places[i].total.*by.sum > least_share * whole.*by.sum;
               });
  for (auto i = places.size(); i-- > 1;)
    if (!keeps[i]) places[places[i].parent].own += places[i].own;
  std::vector<place> kept;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!keeps[i]) continue;
    number[i] = kept.size();
    kept.push_back(places[i]);
    kept.back().parent = number[places[i].parent];
  }
  places = std::move(kept);
}

std::string_view word_of(stack_frame::kind kind) {
  switch (kind) {
    case stack_frame::kind::line:
      return "line";
    case stack_frame::kind::module:
      return "module";
    case stack_frame::kind::kernel:
      return "kernel";
    case stack_frame::kind::call:
      return "call";
    case stack_frame::kind::other:
      break;
  }
  return "other";
}

std::string name_of(stack_frame const& frame) {
  if (frame.is != stack_frame::kind::line || frame.file.empty() || frame.is_native)
    return frame.name;
  return frame.file.substr(frame.file.rfind('/') + 1) + ':' + std::to_string(frame.line) + ' ' +
         frame.name;
}

void append_place(std::string& to, place const& one, stack_frame const& frame) {
  report::json_object o(to);
  o.text("name", name_of(frame));
  o.member("parent", [&](std::string& out) {
    out += one.parent == 0 ? "null" : std::to_string(one.parent - 1);
  });
  o.text("kind", word_of(frame.is));
  if (frame.is == stack_frame::kind::line) {
    o.text("file", frame.file);
    o.whole("line", frame.line);
    o.flag("is_own",
           frame.is_native ? is_own_native(frame.file, frame.name) : is_own_by_default(frame.file));
  }
  o.number("instances", one.total.launches);
  for (auto const& by : times_of_place) {
    o.number(by.name, std::round(one.total.*by.sum));
    o.number(by.own, std::round(one.own.*by.sum));
  }
  o.end();
}

/// The document has no place around all others.
std::string document_of(weighed_stacks const& all) {
  auto places = places_of(all);
  join_small(places);
  std::string text;
  std::vector<place> const shown(places.begin() + 1, places.end());
  report::append_json_array(text, shown, [&](std::string& to, place const& one) {
    append_place(to, one, all.frames()[one.frame]);
  });
  return text;
}

/// Each frame is a module.
weighed_stacks::path_of_stack modules_of_stack(module_tree const& tree) {
  return [&tree](stack_id stack) {
    std::vector<stack_frame> path;
    for (auto at = tree.of(stack); at != 0; at = tree.modules()[at].outer) {
      auto const& one = tree.modules()[at];
      auto const step = one.path.substr(one.path.rfind('.') + 1);
      path.push_back({stack_frame::kind::module, step + ": " + one.type, {}});
    }
    if (path.empty()) path.push_back({stack_frame::kind::other, "(no module)", {}});
    std::reverse(path.begin(), path.end());
    return path;
  };
}

std::string source_of(weighed_stacks const& all, trace_contents& trace) {
  std::map<std::string, std::set<std::uint32_t>> used;
  for (auto const& frame : all.frames())
    if (frame.is == stack_frame::kind::line && !frame.is_native)
      used[frame.file].insert(frame.line);
  source_texts texts(trace);
  json_members files;
  for (auto const& [file, lines] : used) {
    json_members known;
    auto has_some = false;
    for (auto const line : lines)
      if (auto const text = texts.line(file, line); !text.empty()) {
        known.add_text(std::to_string(line), text);
        has_some = true;
      }
    if (has_some) files.add(file) += std::move(known).take();
  }
  return std::move(files).take();
}

}  // namespace

std::string stack_document(trace_contents& trace) {
  json_members members;
  auto const& stacks = trace.stacks();
  if (stacks.size() == 1) return "{}";
  auto const times = read_stack_times(trace, [] {});
  weighed_stacks const lines(trace, times, lines_of_stack(trace, stacks));
  members.add("lines") += document_of(lines);
  module_tree const tree(stacks, [&](name_id name) { return trace.text()(name); });
  if (tree.modules().size() > 1)
    members.add("modules") += document_of(weighed_stacks(trace, times, modules_of_stack(tree)));
  members.add("source") += source_of(lines, trace);
  std::vector<std::string> notes;
  if (times.recorded_share() < 0.9995)
    notes.push_back("The stack of " + percent_of(times.recorded_share()) +
                    " of the launches was recorded; the others are spread over the stacks of "
                    "launches of the same kernels.");
  members.add_texts("notes", notes);
  return std::move(members).take();
}

}  // namespace gpuprof::host::command
