// SPDX-License-Identifier: Apache-2.0
#include "report_page/timeline_places.hpp"

#include "host/analysis/module_tree.hpp"
#include "host/reading/time_merge.hpp"
#include "lines/stack_places.hpp"

#include <string>
#include <unordered_map>

namespace gpuprof::host::command {
namespace {

class places_reader {
 public:
  places_reader(page::bar_places& to, trace_contents& trace)
      : to_(to),
        trace_(trace),
        frames_(trace),
        modules_(trace.stacks(), [&](name_id name) { return trace.text()(name); }) {}

  template <class Work>
  void operator()(Work const& work) {
    auto const& place = text_of(work.stack);
    to_.add_piece({0, raw(work.device), raw(work.stream)}, work.start.value, length_of(work),
                  place);
    if (!place.empty())
      to_.add_launch({2, 0, trace_.os_thread(work.thread)}, work.launched.value, place);
  }
  void operator()(api_record const& call) {
    to_.add_piece({2, 0, call.os_thread}, call.start.value, length_of(call), text_of(call.stack));
  }

 private:
  template <class Row>
  static std::uint64_t length_of(Row const& row) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(row.duration.value, 0));
  }
  /// "train.py:41 Model.forward, module h.0.mlp: Mlp"
  std::string const& text_of(stack_id stack) {
    auto const [known, is_new] = texts_.try_emplace(stack);
    auto const* const frame = is_new ? frames_.own_frame_of(stack) : nullptr;
    if (frame == nullptr) return known->second;
    auto& text = known->second = frames_.where(frame);
    if (auto const function = trace_.text()(frame->function); !function.empty())
      text.append(" ").append(function);
    if (auto const at = modules_.of(stack); at != 0) {
      auto const& module = modules_.modules()[at];
      text += ", module " + module.path + ": " + module.type;
    }
    return text;
  }

  page::bar_places& to_;
  trace_contents& trace_;
  stack_places frames_;
  module_tree modules_;
  std::unordered_map<stack_id, std::string> texts_;
};

}  // namespace

void add_places(page::bar_places& to, trace_contents& trace) {
  if (trace.file().row_count<stack_record>() == 0) return;
  for_each_in_time<kernel_record, graph_record, copy_record, memset_record, api_record>(
      trace.file(), places_reader(to, trace));
}

}  // namespace gpuprof::host::command
