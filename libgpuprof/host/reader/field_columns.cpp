// SPDX-License-Identifier: Apache-2.0
#include "host/reader/field_columns.hpp"

namespace gpuprof::host {
namespace {

/// Pairs fields of a record with what they are made of in a row.
template <class Record, class Row>
class column_set_builder {
 public:
  explicit column_set_builder(field_bits asked) noexcept : asked_(asked) {}

  template <class Field, class... Sources>
  column_set_builder& field(Field field, Sources Row::*... sources) {
    if (asks_for<Record>(asked_, field)) (chosen_.insert(sources), ...);
    return *this;
  }
  /// What all work on a GPU has.
  column_set_builder& work() {
    return field(&Record::start_ns, &Row::start)
        .field(&Record::duration_ns, &Row::duration)
        .field(&Record::launched_ns, &Row::launched)
        .field(&Record::device, &Row::device)
        .field(&Record::context, &Row::context)
        .field(&Record::stream, &Row::stream)
        .field(&Record::correlation, &Row::correlation)
        .field(&Record::os_thread, &Row::thread)
        .field(&Record::graph, &Row::graph)
        .field(&Record::range, &Row::range);
  }
  capture::column_set<Row> made() const noexcept { return chosen_; }

 private:
  field_bits asked_;
  capture::column_set<Row> chosen_ = capture::column_set<Row>::none();
};

}  // namespace

capture::column_set<kernel_record> kernel_columns(field_bits asked) {
  using record = captured_kernel;
  column_set_builder<record, kernel_record> columns(asked);
  columns.work();
  auto const of_shape = [&](auto... fields) {
    (columns.field(fields, &kernel_record::shape), ...);
  };
  of_shape(&record::name, &record::base_name, &record::mangled_name, &record::grid, &record::block,
           &record::cluster, &record::registers_per_thread, &record::static_shared_bytes,
           &record::dynamic_shared_bytes, &record::local_bytes_per_thread,
           &record::shared_bytes_unknown);
  return columns.made();
}

capture::column_set<graph_record> graph_columns(field_bits asked) {
  return column_set_builder<captured_graph, graph_record>(asked).work().made();
}

capture::column_set<copy_record> copy_columns(field_bits asked) {
  using record = captured_copy;
  return column_set_builder<record, copy_record>(asked)
      .work()
      .field(&record::bytes, &copy_record::bytes)
      .field(&record::kind, &copy_record::kind)
      .field(&record::source_kind, &copy_record::source_kind)
      .field(&record::destination_kind, &copy_record::destination_kind)
      .field(&record::asynchronous, &copy_record::asynchronous)
      .field(&record::source_device, &copy_record::source_device)
      .field(&record::destination_device, &copy_record::destination_device)
      .field(&record::copy_count, &copy_record::batch)
      .made();
}

capture::column_set<memset_record> fill_columns(field_bits asked) {
  return column_set_builder<captured_fill, memset_record>(asked)
      .work()
      .field(&captured_fill::bytes, &memset_record::bytes)
      .field(&captured_fill::value, &memset_record::value)
      .made();
}

capture::column_set<api_record> call_columns(field_bits asked) {
  using record = captured_call;
  return column_set_builder<record, api_record>(asked)
      .field(&record::duration_ns, &api_record::duration)
      .field(&record::name, &api_record::name)
      .field(&record::api, &api_record::domain)
      .field(&record::os_thread, &api_record::os_thread)
      .field(&record::correlation, &api_record::correlation)
      .field(&record::result, &api_record::result)
      .made();
}

capture::column_set<range_begin> range_columns(field_bits asked) {
  using record = captured_range;
  return column_set_builder<record, range_begin>(asked)
      .field(&record::duration_ns, &range_begin::range)
      .field(&record::still_open, &range_begin::range)
      .field(&record::id, &range_begin::range)
      .field(&record::parent, &range_begin::parent)
      .field(&record::name, &range_begin::name)
      .field(&record::domain, &range_begin::domain)
      .field(&record::os_thread, &range_begin::thread)
      .field(&record::style, &range_begin::style)
      .field(&record::category, &range_begin::category)
      .field(&record::color, &range_begin::color)
      .field(&record::payload, &range_begin::payload, &range_begin::payload_bits)
      .field(&record::declared_flops, &range_begin::declared_flops)
      .field(&record::declared_bytes, &range_begin::declared_bytes)
      .made();
}

capture::column_set<mark_record> mark_columns(field_bits asked) {
  using record = captured_mark;
  return column_set_builder<record, mark_record>(asked)
      .field(&record::name, &mark_record::name)
      .field(&record::domain, &mark_record::domain)
      .field(&record::os_thread, &mark_record::thread)
      .field(&record::payload, &mark_record::payload, &mark_record::payload_bits)
      .made();
}

capture::column_set<sync_record> sync_columns(field_bits asked) {
  using record = captured_sync;
  return column_set_builder<record, sync_record>(asked)
      .field(&record::duration_ns, &sync_record::duration)
      .field(&record::kind, &sync_record::type)
      .field(&record::context, &sync_record::context)
      .field(&record::stream, &sync_record::stream)
      .field(&record::correlation, &sync_record::correlation)
      .made();
}

capture::column_set<memory_record> memory_columns(field_bits asked) {
  using record = captured_memory;
  return column_set_builder<record, memory_record>(asked)
      .field(&record::operation, &memory_record::operation)
      .field(&record::kind, &memory_record::kind)
      .field(&record::address, &memory_record::address)
      .field(&record::bytes, &memory_record::bytes)
      .field(&record::device, &memory_record::device)
      .made();
}

capture::column_set<read_launch_record> reading_columns(field_bits asked) {
  using record = captured_reading;
  return column_set_builder<record, read_launch_record>(asked)
      .field(&record::closed_ns, &read_launch_record::closed)
      .field(&record::device, &read_launch_record::device)
      .field(&record::correlation, &read_launch_record::correlation)
      .field(&record::whole_graph, &read_launch_record::whole_graph)
      .field(&record::values, &read_launch_record::correlation)
      .made();
}

capture::column_set<sample_record> sample_columns(field_bits asked) {
  using record = captured_sample;
  return column_set_builder<record, sample_record>(asked)
      .field(&record::duration_ns, &sample_record::duration)
      .field(&record::device, &sample_record::metric)
      .field(&record::metric, &sample_record::metric)
      .field(&record::value, &sample_record::value)
      .made();
}

capture::column_set<chip_state_record> chip_state_columns(field_bits asked) {
  using record = captured_chip_state;
  return column_set_builder<record, chip_state_record>(asked)
      .field(&record::device, &chip_state_record::device)
      .field(&record::sm_clock_hz, &chip_state_record::sm_clock_mhz)
      .field(&record::memory_clock_hz, &chip_state_record::memory_clock_mhz)
      .field(&record::watts, &chip_state_record::power_mw)
      .field(&record::temperature_c, &chip_state_record::temperature_c)
      .field(&record::limiters, &chip_state_record::limiters)
      .made();
}

}  // namespace gpuprof::host
