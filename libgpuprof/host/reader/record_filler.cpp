// SPDX-License-Identifier: Apache-2.0
#include "host/reader/record_filler.hpp"

#include <bit>

namespace gpuprof::host {
namespace {

captured_extent extent_of(extent3 const& from) {
  return {from.x, from.y, from.z};
}

std::uint64_t length(duration_ns duration) {
  return duration.value < 0 ? 0 : static_cast<std::uint64_t>(duration.value);
}

template <class Enum, class Value>
Enum same_number(Value value) noexcept {
  return static_cast<Enum>(static_cast<std::uint8_t>(value));
}

bool asks_for_shapes(field_bits asked) noexcept {
  using record = captured_kernel;
  return asks_for<record>(asked, &record::name, &record::base_name, &record::mangled_name,
                          &record::grid, &record::block, &record::cluster,
                          &record::registers_per_thread, &record::static_shared_bytes,
                          &record::dynamic_shared_bytes, &record::local_bytes_per_thread,
                          &record::shared_bytes_unknown);
}

}  // namespace

record_filler::record_filler(capture_contents& contents, capture_query const& query)
    : contents_(contents),
      shapes_(asks_for_shapes(query.fields(captured_kind::kernel))),
      lengths_of_ranges_(asks_for<captured_range>(query.fields(captured_kind::range),
                                                  &captured_range::duration_ns,
                                                  &captured_range::still_open)) {
  auto const with_values =
      asks_for<captured_reading>(query.fields(captured_kind::reading), &captured_reading::values);
  if (with_values || asks_for<captured_sample>(query.fields(captured_kind::sample),
                                               &captured_sample::device, &captured_sample::metric))
    read_metrics();
  if (with_values) read_values();
}

void record_filler::read_metrics() {
  contents_.trace().file().for_each<metric_record>([&](std::span<metric_record const> rows) {
    for (auto const& row : rows) metrics_.try_emplace(row.metric, row);
  });
}

// Readings are of some thousand launches: their values are kept, the launches are not.
void record_filler::read_values() {
  contents_.trace().file().for_each<reading_value_record>(
      [&](std::span<reading_value_record const> rows) {
        for (auto const& row : rows)
          values_[row.correlation].emplace_back(text(metrics_[row.metric].name), row.value);
      });
}

std::string_view record_filler::text(name_id id) {
  if (id == name_id{}) return {};
  if (names_ == nullptr) names_ = &contents_.names();
  return names_->text(id);
}

std::uint32_t record_filler::os_thread(thread_index thread) {
  if (thread != last_thread_) {
    last_thread_ = thread;
    os_number_of_last_ = contents_.trace().os_thread(thread);
  }
  return os_number_of_last_;
}

template <class Row>
void record_filler::fill_work(Row const& row, captured_work& to) {
  to.start_ns = row.start.value;
  to.duration_ns = length(row.duration);
  to.launched_ns = row.launched.value;
  to.device = raw(row.device);
  to.context = raw(row.context);
  to.stream = raw(row.stream);
  to.correlation = raw(row.correlation);
  to.os_thread = os_thread(row.thread);
  to.graph = raw(row.graph);
  to.range = raw(row.range);
}

captured_payload record_filler::payload_of(payload_kind kind, std::uint64_t bits) {
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
      return text(static_cast<name_id>(bits));
  }
  return {};
}

void record_filler::fill(kernel_record const& row, captured_kernel& to) {
  fill_work(row, to);
  if (!shapes_) return;
  if (names_ == nullptr) names_ = &contents_.names();
  auto const& name = names_->kernel_of(row.shape);
  auto const& shape = names_->shape(row.shape);
  to.name = name.demangled;
  to.base_name = name.base;
  to.mangled_name = name.mangled;
  to.grid = extent_of(shape.grid);
  to.block = extent_of(shape.block);
  to.cluster = extent_of(shape.cluster);
  to.registers_per_thread = shape.registers_per_thread;
  to.static_shared_bytes = shape.static_shared_bytes;
  to.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  to.local_bytes_per_thread = shape.local_bytes_per_thread;
  to.shared_bytes_unknown = shape.shared_bytes_unknown;
}

void record_filler::fill(graph_record const& row, captured_graph& to) {
  fill_work(row, to);
}

void record_filler::fill(copy_record const& row, captured_copy& to) {
  fill_work(row, to);
  to.bytes = row.bytes;
  to.kind = same_number<captured_copy_kind>(row.kind);
  to.source_kind = same_number<captured_memory_kind>(row.source_kind);
  to.destination_kind = same_number<captured_memory_kind>(row.destination_kind);
  to.asynchronous = row.asynchronous;
  to.source_device = raw(row.source_device);
  to.destination_device = raw(row.destination_device);
  to.copy_count = row.copies();
}

void record_filler::fill(memset_record const& row, captured_fill& to) {
  fill_work(row, to);
  to.bytes = row.bytes;
  to.value = row.value;
}

void record_filler::fill(api_record const& row, captured_call& to) {
  to.start_ns = row.start.value;
  to.duration_ns = length(row.duration);
  to.name = text(row.name);
  to.api = same_number<captured_api>(row.domain);
  to.os_thread = row.os_thread;
  to.correlation = raw(row.correlation);
  to.result = row.result;
}

void record_filler::fill(range_begin const& row, captured_range& to) {
  to.start_ns = row.time.value;
  to.duration_ns = 0;
  to.still_open = false;
  if (lengths_of_ranges_) {
    auto const& tree = contents_.trace().ranges();
    if (auto const at = tree.index_of(row.range); at != no_range) {
      to.duration_ns = length(tree[at].duration());
      to.still_open = tree[at].still_open;
    }
  }
  to.id = raw(row.range);
  to.parent = raw(row.parent);
  to.name = text(row.name);
  to.domain = text(row.domain);
  to.os_thread = os_thread(row.thread);
  to.style = same_number<captured_range_style>(row.style);
  to.category = row.category;
  to.color = row.color;
  to.payload = payload_of(row.payload, row.payload_bits);
  to.declared_flops = row.declared_flops;
  to.declared_bytes = row.declared_bytes;
}

void record_filler::fill(mark_record const& row, captured_mark& to) {
  to = {row.time.value, text(row.name), text(row.domain), os_thread(row.thread),
        payload_of(row.payload, row.payload_bits)};
}

void record_filler::fill(sync_record const& row, captured_sync& to) {
  to = {row.start.value,  length(row.duration), same_number<captured_sync_kind>(row.type),
        raw(row.context), raw(row.stream),      raw(row.correlation)};
}

void record_filler::fill(memory_record const& row, captured_memory& to) {
  to = {row.time.value,
        same_number<captured_memory_operation>(row.operation),
        same_number<captured_memory_kind>(row.kind),
        row.address,
        row.bytes,
        raw(row.device)};
}

void record_filler::fill(read_launch_record const& row, captured_reading& to) {
  to.opened_ns = row.opened.value;
  to.closed_ns = row.closed.value;
  to.device = raw(row.device);
  to.correlation = raw(row.correlation);
  to.whole_graph = row.whole_graph;
  auto const known = values_.find(row.correlation);
  if (known != values_.end())
    to.values = known->second;
  else
    to.values.clear();
}

void record_filler::fill(sample_record const& row, captured_sample& to) {
  auto const& metric = metrics_[row.metric];
  to = {row.start.value, length(row.duration), raw(metric.device), text(metric.name), row.value};
}

void record_filler::fill(chip_state_record const& row, captured_chip_state& to) {
  constexpr std::uint64_t hz = 1'000'000;  // of a MHz
  to = {row.time.value,        raw(row.device),   row.sm_clock_mhz * hz, row.memory_clock_mhz * hz,
        row.power_mw / 1000.0, row.temperature_c, {row.limiters}};
}

}  // namespace gpuprof::host
