// SPDX-License-Identifier: Apache-2.0
#include "host/import/kineto/kineto_events.hpp"

#include "host/import/source_values.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace gpuprof::host {
namespace {

constexpr std::size_t max_categories = 100;

extent3 extent_of(std::array<std::int64_t, 3> const& sides) {
  return {size_in(sides[0]), size_in(sides[1]), size_in(sides[2])};
}

memory_kind memory_called(std::string_view word) {
  constexpr std::pair<std::string_view, memory_kind> kinds[] = {
      {"Pageable", memory_kind::pageable},
      {"Pinned", memory_kind::pinned},
      {"Device", memory_kind::device},
      {"Array", memory_kind::array},
      {"Managed", memory_kind::managed},
      {"Device Static", memory_kind::device_static},
      {"Managed Static", memory_kind::managed_static}};
  for (auto const& [name, kind] : kinds)
    if (name == word) return kind;
  return memory_kind::unknown;
}

copy_kind copy_called(std::string_view name) {
  constexpr std::pair<std::string_view, copy_kind> kinds[] = {
      {"HtoD", copy_kind::host_to_device},
      {"DtoH", copy_kind::device_to_host},
      {"HtoA", copy_kind::host_to_array},
      {"AtoH", copy_kind::array_to_host},
      {"AtoA", copy_kind::array_to_array},
      {"AtoD", copy_kind::array_to_device},
      {"DtoA", copy_kind::device_to_array},
      {"DtoD", copy_kind::device_to_device},
      {"HtoH", copy_kind::host_to_host},
      {"PtoP", copy_kind::peer_to_peer},
      // names in AMD's traces
      {"HostToDevice", copy_kind::host_to_device},
      {"DeviceToHost", copy_kind::device_to_host},
      {"DeviceToDevice", copy_kind::device_to_device}};
  for (auto const& [word, kind] : kinds)
    if (name.find(word) != std::string_view::npos) return kind;
  return copy_kind::unknown;
}

/// Returns "Pinned -> Device" of "Memcpy HtoD (Pinned -> Device)".
std::string_view in_brackets(std::string_view name) {
  auto const open = name.find('('), close = name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return name.substr(open + 1, close - open - 1);
}

/// Returns the arguments as JSON, with torch.profiler's names.
std::string arguments_of(trace_event const& event) {
  std::string text = "{";
  auto const add = [&](std::string_view key, std::string_view value, std::string_view quote) {
    if (value.empty()) return;
    text += text.size() == 1 ? "\"" : ",\"";
    text.append(key).append("\":").append(quote);
    for (char const c : value)
      if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= ' ') text += c;
    text.append(quote);
  };
  auto const number = [&](std::string_view key, std::optional<std::int64_t> value) {
    if (value && *value >= 0) add(key, std::to_string(*value), "");
  };
  number("In msg nelems", event.elements_in);
  number("Out msg nelems", event.elements_out);
  number("Group size", event.group_size);
  add("dtype", event.element_type, "\"");
  add("Process Group Name", event.group_name, "\"");
  add("Process Group Ranks", event.group_ranks, "\"");
  return text + "}";
}

/// Returns the arguments of an operator as JSON, with the names of torch.profiler. Empty if there
/// are none.
std::string facts_of_operator(trace_event const& event) {
  std::string text;
  auto const add = [&](std::string_view key, std::string const& value) {
    text.append(text.empty() ? "{\"" : ",\"").append(key).append("\":").append(value);
  };
  if (!event.input_shapes.empty()) add("Input Dims", event.input_shapes);
  if (event.sequence && *event.sequence >= 0)
    add("Sequence number", std::to_string(*event.sequence));
  if (event.forward_thread && *event.forward_thread > 0)
    add("Fwd thread id", std::to_string(*event.forward_thread));
  return text.empty() ? text : text + "}";
}

/// gpuprof export writes negative numbers as texts, and all others that a double cannot hold.
template <class Range>
void take_payload(trace_event const& event, imported_process& to, Range& range) {
  auto const& said = event.payload;
  if (said.empty()) return;
  auto const* const end = said.data() + said.size();
  std::uint64_t whole = 0;
  std::int64_t negative = 0;
  if (std::from_chars(said.data(), end, whole).ptr == end) {
    range.payload = payload_kind::unsigned64;
    range.payload_bits = whole;
  } else if (std::from_chars(said.data(), end, negative).ptr == end) {
    range.payload = payload_kind::signed64;
    range.payload_bits = static_cast<std::uint64_t>(negative);
  } else if (!event.payload_is_text) {
    range.payload = payload_kind::float64;
    range.payload_bits = std::bit_cast<std::uint64_t>(std::strtod(said.c_str(), nullptr));
  } else {
    range.payload = payload_kind::text;
    range.payload_bits = raw(to.name(said));
  }
}

std::uint8_t wait_called(std::string_view kind) {
  constexpr std::pair<std::string_view, std::uint8_t> kinds[] = {
      {"Event Sync", 1}, {"Stream Wait Event", 2}, {"Stream Sync", 3}, {"Context Sync", 4}};
  for (auto const& [name, type] : kinds)
    if (kind.starts_with(name)) return type;
  return 0;
}

/// torch.profiler writes "thread 4711 (python)" for thread 4711 with the name python.
std::string_view without_number(std::string_view label, std::int64_t thread) {
  auto const number = "thread " + std::to_string(thread);
  if (label == number) return {};
  if (!label.starts_with(number + " (") || !label.ends_with(')')) return label;
  label.remove_prefix(number.size() + 2);
  return label.substr(0, label.size() - 1);
}

}  // namespace

/// Second names are those of PyTorch before 1.11.
kineto_events::taker kineto_events::taker_of(std::string const& category) const {
  static std::unordered_map<std::string_view, taker> const takers = {
      {"kernel", &kineto_events::take_kernel},
      {"Kernel", &kineto_events::take_kernel},
      {"gpu_memcpy", &kineto_events::take_copy},
      {"Memcpy", &kineto_events::take_copy},
      {"gpu_memset", &kineto_events::take_fill},
      {"Memset", &kineto_events::take_fill},
      {"cuda_runtime", &kineto_events::take_call},
      {"Runtime", &kineto_events::take_call},
      {"hip_runtime", &kineto_events::take_call},
      {"cuda_driver", &kineto_events::take_call},
      {"user_annotation", &kineto_events::take_annotation},
      {"cpu_op", &kineto_events::take_operator},
      {"Operator", &kineto_events::take_operator},
      {"gpu_graph", &kineto_events::take_graph},
      {"Trace", &kineto_events::take_span},
      {"cuda_sync", &kineto_events::take_wait}};
  if (auto const known = takers.find(category); known != takers.end()) return known->second;
  return nullptr;
}

void kineto_events::take(trace_event const& event) {
  if (event.phase == "M") return take_metadata(event);
  if (is_of_gpuprof_ && event.phase == "i" && event.category == "cpu_instant_event")
    return take_mark(event);
  auto take = event.phase == "X" ? taker_of(event.category) : nullptr;
  if (take == &kineto_events::take_span && event.trigger.empty()) take = nullptr;
  if (take != nullptr) {
    ++taken_;
    return (this->*take)(event);
  }
  // Other tools, such as Python's sampler, invent categories, so their number is not limited.
  auto const name = event.category.empty() ? "without category" : event.category;
  auto const is_known = left_out_.contains(name) || left_out_.size() < max_categories;
  ++left_out_[is_known ? name : "of other categories"];
}

bool kineto_events::has_times(trace_event const& event, char const* what) {
  auto const has_both = event.start && event.duration;
  if (has_both && *event.duration >= 0) return true;
  to_.lose(std::string(what) + (has_both ? "_of_impossible_times" : "_without_time"));
  return false;
}

std::uint32_t kineto_events::os_thread_of(trace_event const& event) {
  if (event.launching_thread) return static_cast<std::uint32_t>(*event.launching_thread);
  auto const process = event.process.value_or(0);
  constexpr std::int64_t none = INT64_MIN;
  auto const [number, is_new] =
      threads_.of({process, event.thread_text, event.thread.value_or(0)},
                  event.thread || event.thread_text.empty() ? event.thread.value_or(0) : none);
  if (is_new && !event.thread_text.empty()) to_.name_thread(number, to_.name(event.thread_text));
  return number;
}

template <class Record>
void kineto_events::take_common(trace_event const& event, Record& record) {
  record.start = to_.moment(*event.start);
  record.duration = {*event.duration};
  // The row of a GPU event is given by its device and stream.
  record.device = static_cast<device_id>(event.device.value_or(event.process.value_or(0)));
  record.context = to_.context(event.context.value_or(0));
  record.stream = to_.stream(event.stream.value_or(event.thread.value_or(0)));
  record.correlation = correlation_of(event);
  record.graph = to_.graph(event.graph.value_or(0));
  if constexpr (requires { record.time_of; })
    record.time_of = to_.correlation(event.time_of.value_or(0));
  if constexpr (requires { record.node; })
    record.node = static_cast<graph_node_id>(event.node.value_or(0));
  if (event.launched && event.launching_thread) {
    record.launched = to_.moment(*event.launched);
    record.thread = to_.thread(static_cast<std::uint32_t>(*event.launching_thread));
  } else {
    record.thread = to_.process_row(event.process.value_or(0));
  }
}

void kineto_events::take_kernel(trace_event const& event) {
  if (!has_times(event, "kernels")) return;
  kernel_record kernel;
  take_common(event, kernel);
  kernel_shape shape;
  shape.name = to_.name(event.name);
  shape.grid = extent_of(event.grid);
  shape.block = extent_of(event.block);
  shape.registers_per_thread = size_in(event.registers.value_or(0));
  // The trace gives only the sum of static and dynamic memory.
  shape.dynamic_shared_bytes = size_in(event.shared_memory.value_or(0));
  shape.shared_bytes_unknown = !event.shared_memory || !is_size(*event.shared_memory);
  kernel.shape = to_.shape(shape);
  if (!event.collective.empty())
    kernel.range = to_.collective(to_.name(event.collective), to_.name(arguments_of(event)));
  to_.add(kernel);
}

void kineto_events::take_copy(trace_event const& event) {
  if (!has_times(event, "copies")) return;
  copy_record copy;
  take_common(event, copy);
  copy.bytes = bytes_in(event.bytes.value_or(0));
  copy.kind = copy_called(event.name);
  constexpr std::string_view arrow = " -> ";
  auto const kinds = in_brackets(event.name);
  if (auto const at = kinds.find(arrow); at != std::string_view::npos) {
    copy.source_kind = memory_called(kinds.substr(0, at));
    copy.destination_kind = memory_called(kinds.substr(at + arrow.size()));
  }
  copy.source_device = copy.destination_device = copy.device;
  to_.add(copy);
}

void kineto_events::take_fill(trace_event const& event) {
  if (!has_times(event, "fills")) return;
  memset_record fill;
  take_common(event, fill);
  fill.bytes = bytes_in(event.bytes.value_or(0));
  fill.kind = memory_called(in_brackets(event.name));
  to_.add(fill);
}

void kineto_events::take_call(trace_event const& event) {
  if (!has_times(event, "API_calls")) return;
  if (event.process) ++processes_[*event.process];
  imported_call made;
  made.call.start = to_.moment(*event.start);
  made.call.duration = {*event.duration};
  made.call.name = to_.name(event.name);
  auto const is_hip = event.name.starts_with("hip");
  uses_hip_ = uses_hip_ || is_hip;
  made.call.domain =
      is_hip || event.name.starts_with("cuda") ? api_domain::runtime : api_domain::driver;
  made.call.correlation = correlation_of(event);
  made.call.os_thread = os_thread_of(event);
  made.thread = to_.thread(made.call.os_thread, event.process.value_or(0));
  made.is_made = event.is_made;
  made_calls_ += event.is_made;
  recorded_launches_ += !event.is_made && event.name.find("Launch") != std::string::npos;
  to_.calls.add(made);
}

void kineto_events::take_graph(trace_event const& event) {
  if (!has_times(event, "graphs")) return;
  graph_record graph;
  take_common(event, graph);
  to_.add(graph);
}

/// Takes the capture windows that gpuprof export writes. torch.profiler's own span also covers work
/// of the profiler.
void kineto_events::take_span(trace_event const& event) {
  if (event.trigger.empty() || !event.start || !event.duration || *event.duration < 0) return;
  to_.windows.push_back({*event.start, *event.start + *event.duration, to_.name(event.trigger)});
}

void kineto_events::take_mark(trace_event const& event) {
  ++taken_;
  if (!event.start) return to_.lose("marks_without_time");
  mark_record mark;
  mark.time = to_.moment(*event.start);
  mark.thread = to_.thread(os_thread_of(event), event.process.value_or(0));
  mark.name = to_.name(event.name);
  mark.domain = to_.name(event.domain);
  mark.category = static_cast<std::uint32_t>(event.kind.value_or(0));
  take_payload(event, to_, mark);
  to_.marks.add(mark);
}

void kineto_events::add_range(trace_event const& event, name_id name, name_id domain) {
  if (!has_times(event, "ranges")) return;
  if (event.process) ++processes_[*event.process];
  imported_range range;
  range.begin.time = to_.moment(*event.start);
  range.end = range.begin.time + duration_ns{*event.duration};
  range.has_end = !event.is_open;
  range.begin.thread = to_.thread(os_thread_of(event), event.process.value_or(0));
  range.begin.name = name;
  range.begin.domain = domain;
  range.begin.style = event.is_start_end ? range_style::start_end : range_style::push_pop;
  range.begin.category = static_cast<std::uint32_t>(event.kind.value_or(0));
  if (auto const facts = is_of_gpuprof_ ? "" : facts_of_operator(event); !facts.empty()) {
    range.begin.payload = payload_kind::text;
    range.begin.payload_bits = raw(to_.name(facts));
  }
  take_payload(event, to_, range.begin);
  range.begin.declared_flops = event.flops;
  range.begin.declared_bytes = event.declared_bytes;
  to_.ranges.add(range);
}

void kineto_events::take_annotation(trace_event const& event) {
  add_range(event, to_.name(event.name), to_.name(event.domain));
}

/// If gpuprof export has written it, it was an NVTX range.
void kineto_events::take_operator(trace_event const& event) {
  if (event.is_made) return;
  if (!event.range.empty()) return add_range(event, to_.name(event.range), to_.name(event.domain));
  if (cpu_ops_) return add_range(event, to_.name(event.name), to_.name("cpu_op"));
  --taken_;
  ++left_out_[event.category];
}

void kineto_events::take_wait(trace_event const& event) {
  if (!has_times(event, "waits")) return;
  sync_record wait;
  wait.start = to_.moment(*event.start);
  wait.duration = {*event.duration};
  wait.context = to_.context(event.context.value_or(0));
  wait.stream = to_.stream(event.stream.value_or(0));
  wait.correlation = correlation_of(event);
  wait.event = static_cast<std::uint32_t>(std::max<std::int64_t>(event.event.value_or(0), 0));
  wait.type = wait_called(event.wait_kind.empty() ? event.name : event.wait_kind);
  to_.syncs.add(wait);
}

void kineto_events::take_metadata(trace_event const& event) {
  if (event.name != "thread_name" || !event.process || !event.thread) return;
  auto const label = without_number(event.object_name, *event.thread);
  if (!label.empty()) thread_labels_.push_back({event, to_.name(label)});
}

void kineto_events::finish() {
  // The capture that the trace was exported from holds only blocking calls.
  if (made_calls_ > recorded_launches_ && !is_of_gpuprof_) to_.fact("trace.api", "blocking");
  auto const main = std::max_element(processes_.begin(), processes_.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  if (main == processes_.end()) return;
  to_.process_id = static_cast<std::uint32_t>(main->first);
  for (auto const& label : thread_labels_)
    if (processes_.contains(*label.event.process))
      to_.name_thread(os_thread_of(label.event), label.name);
}

}  // namespace gpuprof::host
