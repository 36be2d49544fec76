// SPDX-License-Identifier: Apache-2.0
#include "host/reader/captured_records.hpp"

#include <bit>

namespace gpuprof {
namespace {

captured_extent extent_of(extent3 const& from) {
  return {from.x, from.y, from.z};
}

std::uint64_t length(duration_ns duration) {
  return duration.value < 0 ? 0 : static_cast<std::uint64_t>(duration.value);
}

}  // namespace

captured_records::captured_records(trace_contents& trace, exported_names& names,
                                   capture_visitor const& visitor)
    : trace_(trace), names_(names), visitor_(visitor) {
  if (visitor_.reading || visitor_.sample) read_metrics();
  if (visitor_.reading) read_values();
}

void captured_records::read_metrics() {
  trace_.file().for_each<metric_record>([&](std::span<metric_record const> rows) {
    for (auto const& row : rows) metrics_.try_emplace(row.metric, row);
  });
}

// Readings are of some thousand launches: their values are kept, the launches are not.
void captured_records::read_values() {
  trace_.file().for_each<launch_metric_record>([&](std::span<launch_metric_record const> rows) {
    for (auto const& row : rows)
      values_[row.correlation].emplace_back(names_.text(metrics_[row.metric].name), row.value);
  });
}

template <class Row>
captured_work captured_records::work_of(Row const& row) const {
  captured_work work;
  work.start_ns = row.start.value;
  work.duration_ns = length(row.duration);
  work.launched_ns = row.launched.value;
  work.device = raw(row.device);
  work.context = raw(row.context);
  work.stream = raw(row.stream);
  work.correlation = raw(row.correlation);
  work.os_thread = trace_.os_thread(row.thread);
  work.range = raw(row.range);
  work.graph = raw(row.graph);
  return work;
}

captured_payload captured_records::payload_of(payload_kind kind, std::uint64_t bits) {
  switch (kind) {
    case payload_kind::none:
      break;
    case payload_kind::unsigned64:
      return bits;
    case payload_kind::signed64:
      return static_cast<std::int64_t>(bits);
    case payload_kind::float64:
      return std::bit_cast<double>(bits);
    case payload_kind::text:
      return std::string_view(names_.text(static_cast<name_id>(bits)));
  }
  return {};
}

void captured_records::operator()(kernel_record const& row) {
  auto const& name = names_.kernel_of(row.shape);
  auto const& shape = names_.shape(row.shape);
  captured_kernel kernel;
  static_cast<captured_work&>(kernel) = work_of(row);
  kernel.name = name.demangled;
  kernel.base_name = name.base;
  kernel.mangled_name = name.mangled;
  kernel.grid = extent_of(shape.grid);
  kernel.block = extent_of(shape.block);
  kernel.cluster = extent_of(shape.cluster);
  kernel.registers_per_thread = shape.registers_per_thread;
  kernel.static_shared_bytes = shape.static_shared_bytes;
  kernel.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  kernel.local_bytes_per_thread = shape.local_bytes_per_thread;
  visitor_.kernel(kernel);
}

void captured_records::operator()(graph_record const& row) {
  captured_graph graph;
  static_cast<captured_work&>(graph) = work_of(row);
  visitor_.graph(graph);
}

void captured_records::operator()(copy_record const& row) {
  captured_copy copy;
  static_cast<captured_work&>(copy) = work_of(row);
  copy.bytes = row.bytes;
  copy.kind = static_cast<std::uint8_t>(row.kind);
  copy.source_kind = static_cast<std::uint8_t>(row.source_kind);
  copy.destination_kind = static_cast<std::uint8_t>(row.destination_kind);
  copy.asynchronous = row.asynchronous;
  copy.source_device = raw(row.source_device);
  copy.destination_device = raw(row.destination_device);
  copy.copies = row.copies();
  visitor_.copy(copy);
}

void captured_records::operator()(memset_record const& row) {
  captured_fill fill;
  static_cast<captured_work&>(fill) = work_of(row);
  fill.bytes = row.bytes;
  fill.value = row.value;
  visitor_.fill(fill);
}

void captured_records::operator()(api_record const& row) {
  captured_call call;
  call.start_ns = row.start.value;
  call.duration_ns = length(row.duration);
  call.name = names_.text(row.name);
  call.of_driver = row.domain == api_domain::driver;
  call.os_thread = row.os_thread;
  call.correlation = raw(row.correlation);
  call.result = row.result;
  visitor_.call(call);
}

void captured_records::operator()(range_begin const& row) {
  auto const& tree = trace_.ranges();
  auto const at = tree.index_of(row.range);
  captured_range range;
  range.start_ns = row.time.value;
  if (at != no_range) {
    range.duration_ns = length(tree[at].duration());
    range.still_open = tree[at].still_open;
  }
  range.id = raw(row.range);
  range.parent = raw(row.parent);
  range.name = names_.text(row.name);
  range.domain = names_.text(row.domain);
  range.os_thread = trace_.os_thread(row.thread);
  range.is_push_pop = row.style == range_style::push_pop;
  range.category = row.category;
  range.colour = row.colour;
  range.payload = payload_of(row.payload, row.payload_bits);
  range.declared_flops = row.declared_flops;
  range.declared_bytes = row.declared_bytes;
  visitor_.range(range);
}

void captured_records::operator()(mark_record const& row) {
  visitor_.mark({row.time.value, names_.text(row.name), names_.text(row.domain),
                 trace_.os_thread(row.thread), payload_of(row.payload, row.payload_bits)});
}

void captured_records::operator()(sync_record const& row) {
  visitor_.sync({row.start.value, length(row.duration), row.type, raw(row.context), raw(row.stream),
                 raw(row.correlation)});
}

void captured_records::operator()(memory_record const& row) {
  visitor_.memory({row.time.value, row.operation == memory_operation::release,
                   static_cast<std::uint8_t>(row.kind), row.address, row.bytes, raw(row.device)});
}

void captured_records::operator()(sampled_launch_record const& row) {
  captured_reading reading{row.opened.value,     row.closed.value, raw(row.device),
                           raw(row.correlation), row.whole_graph,  {}};
  if (auto const known = values_.find(row.correlation); known != values_.end())
    reading.values = known->second;
  visitor_.reading(reading);
}

void captured_records::operator()(metric_sample_record const& row) {
  auto const& metric = metrics_[row.metric];
  visitor_.sample({row.start.value, length(row.duration), raw(metric.device),
                   names_.text(metric.name), row.value});
}

void captured_records::operator()(chip_state_record const& row) {
  constexpr std::uint64_t hz = 1'000'000;  // of a MHz
  visitor_.chip_state({row.time.value, raw(row.device), row.sm_clock_mhz * hz,
                       row.memory_clock_mhz * hz, row.power_mw / 1000.0, row.temperature_c,
                       row.limiters});
}

}  // namespace gpuprof
