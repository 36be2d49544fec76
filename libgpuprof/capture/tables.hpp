// SPDX-License-Identifier: Apache-2.0
// The tables of a capture file and their columns: the one definition that writer, reader and schema
// share.
#pragma once

#include "capture/member_path.hpp"
#include "model/kernel_code.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <string_view>
#include <tuple>

namespace gpuprof::capture {

// A table's number, a column's place in its list and the meaning of both are for ever. New columns
// go to the end of a list, new tables get a new number; nothing is removed or reordered.

/// A text and the number by which all other tables refer to it.
struct name_row {
  name_id id{};
  std::string_view text;
};

/// One column of one table, so that a file says what it holds.
struct schema_row {
  std::uint16_t table = 0;
  std::uint16_t column = 0;
  std::string_view table_name;
  std::string_view column_name;
  std::string_view type;  // u8 u16 u32 u64 i32 i64 f64 bool text
  std::string_view unit;  // as in column_note, with the next
  std::string_view refers_to;
};

/// The last row of a file that was closed.
struct end_row {
  std::uint64_t rows_lost = 0;  // could not be written
  std::int32_t error = 0;       // errno of the write that failed; 0: none did
};

template <class Row>
struct table;

// Definitions: rows that others refer to. They are written before any row that may use them.

template <>
struct table<schema_row> {
  static constexpr std::uint16_t number = 0;
  static constexpr std::string_view name = "schema";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("table", at<&schema_row::table>);
    column("column", at<&schema_row::column>);
    column("table_name", at<&schema_row::table_name>);
    column("column_name", at<&schema_row::column_name>);
    column("type", at<&schema_row::type>);
    column("unit", at<&schema_row::unit>);
    column("refers_to", at<&schema_row::refers_to>);
  }
};

template <>
struct table<name_row> {
  static constexpr std::uint16_t number = 1;
  static constexpr std::string_view name = "name";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("id", at<&name_row::id>);
    column("text", at<&name_row::text>);
  }
};

template <>
struct table<fact_record> {
  static constexpr std::uint16_t number = 2;
  static constexpr std::string_view name = "fact";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("key", at<&fact_record::key>);
    column("value", at<&fact_record::value>);
  }
};

template <>
struct table<device_record> {
  static constexpr std::uint16_t number = 3;
  static constexpr std::string_view name = "device";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("device", at<&device_record::device>);
    column("name", at<&device_record::name>);
    column("uuid", at<&device_record::uuid>);
    column("chip", at<&device_record::chip>);
    column("compute_major", at<&device_record::compute_major>);
    column("compute_minor", at<&device_record::compute_minor>);
    column("sm_count", at<&device_record::sm_count>);
    column("max_sm_clock_khz", at<&device_record::max_sm_clock_khz>);
    column("max_memory_clock_khz", at<&device_record::max_memory_clock_khz>);
    column("memory_bus_bits", at<&device_record::memory_bus_bits>);
    column("memory_bytes", at<&device_record::memory_bytes>);
    column("l2_bytes", at<&device_record::l2_bytes>);
    column("pci_bus", at<&device_record::pci_bus>);
  }
};

template <>
struct table<context_record> {
  static constexpr std::uint16_t number = 4;
  static constexpr std::string_view name = "context";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("context", at<&context_record::context>);
    column("device", at<&context_record::device>);
  }
};

template <>
struct table<thread_record> {
  static constexpr std::uint16_t number = 5;
  static constexpr std::string_view name = "thread";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("thread", at<&thread_record::thread>);
    column("os_thread", at<&thread_record::os_thread>);
    column("name", at<&thread_record::name>);
  }
};

template <>
struct table<category_record> {
  static constexpr std::uint16_t number = 6;
  static constexpr std::string_view name = "category";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("domain", at<&category_record::domain>);
    column("category", at<&category_record::category>);
    column("name", at<&category_record::name>);
  }
};

template <>
struct table<kernel_shape> {
  static constexpr std::uint16_t number = 7;
  static constexpr std::string_view name = "shape";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("id", at<&kernel_shape::id>);
    column("name", at<&kernel_shape::name>);
    column("grid_x", at<&kernel_shape::grid, &extent3::x>);
    column("grid_y", at<&kernel_shape::grid, &extent3::y>);
    column("grid_z", at<&kernel_shape::grid, &extent3::z>);
    column("block_x", at<&kernel_shape::block, &extent3::x>);
    column("block_y", at<&kernel_shape::block, &extent3::y>);
    column("block_z", at<&kernel_shape::block, &extent3::z>);
    column("cluster_x", at<&kernel_shape::cluster, &extent3::x>);
    column("cluster_y", at<&kernel_shape::cluster, &extent3::y>);
    column("cluster_z", at<&kernel_shape::cluster, &extent3::z>);
    column("registers_per_thread", at<&kernel_shape::registers_per_thread>);
    column("static_shared_bytes", at<&kernel_shape::static_shared_bytes>);
    column("dynamic_shared_bytes", at<&kernel_shape::dynamic_shared_bytes>);
    column("local_bytes_per_thread", at<&kernel_shape::local_bytes_per_thread>);
    column("local_bytes_total", at<&kernel_shape::local_bytes_total>);
    column("launch_type", at<&kernel_shape::launch_type>);
    column("max_active_clusters", at<&kernel_shape::max_active_clusters>);
    column("arguments", at<&kernel_shape::arguments>);
  }
};

template <>
struct table<window_record> {
  static constexpr std::uint16_t number = 8;
  static constexpr std::string_view name = "window";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("index", at<&window_record::index>);
    column("start", at<&window_record::start>);
    column("end", at<&window_record::end>);
    column("trigger", at<&window_record::trigger>);
  }
};

template <>
struct table<clock_record> {
  static constexpr std::uint16_t number = 9;
  static constexpr std::string_view name = "clock";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("realtime", at<&clock_record::realtime>);
    column("monotonic", at<&clock_record::monotonic>);
  }
};

// Events.

template <>
struct table<counter_record> {
  static constexpr std::uint16_t number = 10;
  static constexpr std::string_view name = "counter";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("name", at<&counter_record::name>);
    column("value", at<&counter_record::value>);
  }
};

template <>
struct table<kernel_record> {
  static constexpr std::uint16_t number = 11;
  static constexpr std::string_view name = "kernel";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&kernel_record::start>);
    column("duration", at<&kernel_record::duration>);
    column("launched", at<&kernel_record::launched>);
    column("shape", at<&kernel_record::shape>);
    column("device", at<&kernel_record::device>);
    column("context", at<&kernel_record::context>);
    column("stream", at<&kernel_record::stream>);
    column("correlation", at<&kernel_record::correlation>);
    column("thread", at<&kernel_record::thread>);
    column("range", at<&kernel_record::range>);
    column("graph", at<&kernel_record::graph>);
    column("node", at<&kernel_record::node>);
    column("time_of", at<&kernel_record::time_of>);
  }
};

template <>
struct table<graph_record> {
  static constexpr std::uint16_t number = 12;
  static constexpr std::string_view name = "graph";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&graph_record::start>);
    column("duration", at<&graph_record::duration>);
    column("launched", at<&graph_record::launched>);
    column("graph", at<&graph_record::graph>);
    column("device", at<&graph_record::device>);
    column("context", at<&graph_record::context>);
    column("stream", at<&graph_record::stream>);
    column("correlation", at<&graph_record::correlation>);
    column("thread", at<&graph_record::thread>);
    column("range", at<&graph_record::range>);
  }
};

template <>
struct table<copy_record> {
  static constexpr std::uint16_t number = 13;
  static constexpr std::string_view name = "copy";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&copy_record::start>);
    column("duration", at<&copy_record::duration>);
    column("launched", at<&copy_record::launched>);
    column("bytes", at<&copy_record::bytes>);
    column("kind", at<&copy_record::kind>);
    column("source_kind", at<&copy_record::source_kind>);
    column("destination_kind", at<&copy_record::destination_kind>);
    column("asynchronous", at<&copy_record::asynchronous>);
    column("device", at<&copy_record::device>);
    column("context", at<&copy_record::context>);
    column("stream", at<&copy_record::stream>);
    column("source_device", at<&copy_record::source_device>);
    column("destination_device", at<&copy_record::destination_device>);
    column("correlation", at<&copy_record::correlation>);
    column("thread", at<&copy_record::thread>);
    column("range", at<&copy_record::range>);
    column("graph", at<&copy_record::graph>);
    column("node", at<&copy_record::node>);
  }
};

template <>
struct table<memset_record> {
  static constexpr std::uint16_t number = 14;
  static constexpr std::string_view name = "memset";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&memset_record::start>);
    column("duration", at<&memset_record::duration>);
    column("launched", at<&memset_record::launched>);
    column("bytes", at<&memset_record::bytes>);
    column("value", at<&memset_record::value>);
    column("kind", at<&memset_record::kind>);
    column("asynchronous", at<&memset_record::asynchronous>);
    column("device", at<&memset_record::device>);
    column("context", at<&memset_record::context>);
    column("stream", at<&memset_record::stream>);
    column("correlation", at<&memset_record::correlation>);
    column("thread", at<&memset_record::thread>);
    column("range", at<&memset_record::range>);
    column("graph", at<&memset_record::graph>);
    column("node", at<&memset_record::node>);
  }
};

template <>
struct table<api_record> {
  static constexpr std::uint16_t number = 15;
  static constexpr std::string_view name = "api";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&api_record::start>);
    column("duration", at<&api_record::duration>);
    column("domain", at<&api_record::domain>);
    column("name", at<&api_record::name>);
    column("os_thread", at<&api_record::os_thread>);
    column("correlation", at<&api_record::correlation>);
    column("result", at<&api_record::result>);
  }
};

template <>
struct table<sync_record> {
  static constexpr std::uint16_t number = 16;
  static constexpr std::string_view name = "sync";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&sync_record::start>);
    column("duration", at<&sync_record::duration>);
    column("type", at<&sync_record::type>);
    column("context", at<&sync_record::context>);
    column("stream", at<&sync_record::stream>);
    column("event", at<&sync_record::event>);
    column("correlation", at<&sync_record::correlation>);
    column("result", at<&sync_record::result>);
  }
};

template <>
struct table<memory_record> {
  static constexpr std::uint16_t number = 17;
  static constexpr std::string_view name = "memory";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("time", at<&memory_record::time>);
    column("operation", at<&memory_record::operation>);
    column("kind", at<&memory_record::kind>);
    column("address", at<&memory_record::address>);
    column("bytes", at<&memory_record::bytes>);
    column("pool_address", at<&memory_record::pool_address>);
    column("device", at<&memory_record::device>);
    column("context", at<&memory_record::context>);
    column("stream", at<&memory_record::stream>);
    column("correlation", at<&memory_record::correlation>);
    column("asynchronous", at<&memory_record::asynchronous>);
  }
};

template <>
struct table<unified_memory_record> {
  static constexpr std::uint16_t number = 18;
  static constexpr std::string_view name = "unified_memory";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&unified_memory_record::start>);
    column("duration", at<&unified_memory_record::duration>);
    column("counter", at<&unified_memory_record::counter>);
    column("value", at<&unified_memory_record::value>);
    column("address", at<&unified_memory_record::address>);
    column("source_device", at<&unified_memory_record::source_device>);
    column("destination_device", at<&unified_memory_record::destination_device>);
    column("stream", at<&unified_memory_record::stream>);
  }
};

template <>
struct table<range_begin> {
  static constexpr std::uint16_t number = 19;
  static constexpr std::string_view name = "range_begin";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("time", at<&range_begin::time>);
    column("range", at<&range_begin::range>);
    column("parent", at<&range_begin::parent>);
    column("thread", at<&range_begin::thread>);
    column("style", at<&range_begin::style>);
    column("level", at<&range_begin::level>);
    column("name", at<&range_begin::name>);
    column("domain", at<&range_begin::domain>);
    column("category", at<&range_begin::category>);
    column("colour", at<&range_begin::colour>);
    column("payload", at<&range_begin::payload>);
    column("payload_bits", at<&range_begin::payload_bits>);
    column("declared_flops", at<&range_begin::declared_flops>);
    column("declared_bytes", at<&range_begin::declared_bytes>);
  }
};

template <>
struct table<range_end> {
  static constexpr std::uint16_t number = 20;
  static constexpr std::string_view name = "range_end";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("time", at<&range_end::time>);
    column("range", at<&range_end::range>);
    column("thread", at<&range_end::thread>);
  }
};

template <>
struct table<mark_record> {
  static constexpr std::uint16_t number = 21;
  static constexpr std::string_view name = "mark";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("time", at<&mark_record::time>);
    column("thread", at<&mark_record::thread>);
    column("name", at<&mark_record::name>);
    column("domain", at<&mark_record::domain>);
    column("category", at<&mark_record::category>);
    column("colour", at<&mark_record::colour>);
    column("payload", at<&mark_record::payload>);
    column("payload_bits", at<&mark_record::payload_bits>);
  }
};

template <>
struct table<end_row> {
  static constexpr std::uint16_t number = 22;
  static constexpr std::string_view name = "end";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("rows_lost", at<&end_row::rows_lost>);
    column("error", at<&end_row::error>);
  }
};

template <>
struct table<peak_record> {
  static constexpr std::uint16_t number = 23;
  static constexpr std::string_view name = "peak";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("device", at<&peak_record::device>);
    column("test", at<&peak_record::test>);
    column("group", at<&peak_record::group>);
    column("title", at<&peak_record::title>);
    column("unit", at<&peak_record::unit>);
    column("clock", at<&peak_record::clock>);
    column("per_clock", at<&peak_record::per_clock>);
    column("per_clock_theory", at<&peak_record::per_clock_theory>);
    column("burst", at<&peak_record::burst>);
    column("burst_spread", at<&peak_record::burst_spread>);
    column("burst_sm_clock_mhz", at<&peak_record::burst_sm_clock_mhz>);
    column("sustained", at<&peak_record::sustained>);
    column("sustained_sm_clock_mhz", at<&peak_record::sustained_sm_clock_mhz>);
    column("sustained_watts", at<&peak_record::sustained_watts>);
    column("theory", at<&peak_record::theory>);
    column("limiters", at<&peak_record::limiters>);
    column("method", at<&peak_record::method>);
    column("operands", at<&peak_record::operands>);
    column("measured_at", at<&peak_record::measured_at>);
    column("remark", at<&peak_record::remark>);
  }
};

template <>
struct table<metric_record> {
  static constexpr std::uint16_t number = 24;
  static constexpr std::string_view name = "metric";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("metric", at<&metric_record::metric>);
    column("name", at<&metric_record::name>);
    column("device", at<&metric_record::device>);
    column("group", at<&metric_record::group>);
    column("patches_kernel", at<&metric_record::patches_kernel>);
    column("sampled", at<&metric_record::sampled>);
  }
};

template <>
struct table<sampled_launch_record> {
  static constexpr std::uint16_t number = 25;
  static constexpr std::string_view name = "sampled_launch";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("correlation", at<&sampled_launch_record::correlation>);
    column("device", at<&sampled_launch_record::device>);
    column("context", at<&sampled_launch_record::context>);
    column("group", at<&sampled_launch_record::group>);
    column("opened", at<&sampled_launch_record::opened>);
    column("closed", at<&sampled_launch_record::closed>);
    column("reading", at<&sampled_launch_record::reading>);
    column("whole_graph", at<&sampled_launch_record::whole_graph>);
  }
};

template <>
struct table<launch_metric_record> {
  static constexpr std::uint16_t number = 26;
  static constexpr std::string_view name = "launch_metric";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("correlation", at<&launch_metric_record::correlation>);
    column("metric", at<&launch_metric_record::metric>);
    column("value", at<&launch_metric_record::value>);
  }
};

template <>
struct table<metric_sample_record> {
  static constexpr std::uint16_t number = 27;
  static constexpr std::string_view name = "metric_sample";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("metric", at<&metric_sample_record::metric>);
    column("start", at<&metric_sample_record::start>);
    column("duration", at<&metric_sample_record::duration>);
    column("value", at<&metric_sample_record::value>);
  }
};

template <>
struct table<sampling_window_record> {
  static constexpr std::uint16_t number = 28;
  static constexpr std::string_view name = "sampling_window";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("device", at<&sampling_window_record::device>);
    column("start", at<&sampling_window_record::start>);
    column("end", at<&sampling_window_record::end>);
    column("interval", at<&sampling_window_record::interval>);
    column("samples", at<&sampling_window_record::samples>);
    column("overflows", at<&sampling_window_record::overflows>);
  }
};

template <>
struct table<kernel_code_record> {
  static constexpr std::uint16_t number = 29;
  static constexpr std::string_view name = "kernel_code";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("name", at<&kernel_code_record::name>);
    column("sm", at<&kernel_code_record::sm>);
    column("instructions", at<&kernel_code_record::instructions>);
    column("is_complete", at<&kernel_code_record::is_complete>);
    column("fma_instructions", at<&kernel_code_record::fma_instructions>);
    column("fp32_operations", at<&kernel_code_record::fp32_operations>);
    column("fp16_operations", at<&kernel_code_record::fp16_operations>);
  }
};

/// Every table: definitions before their users and names before all. A table's number is its place.
using row_types =
    std::tuple<schema_row, name_row, fact_record, device_record, context_record, thread_record,
               category_record, kernel_shape, window_record, clock_record, counter_record,
               kernel_record, graph_record, copy_record, memset_record, api_record, sync_record,
               memory_record, unified_memory_record, range_begin, range_end, mark_record, end_row,
               peak_record, metric_record, sampled_launch_record, launch_metric_record,
               metric_sample_record, sampling_window_record, kernel_code_record>;
inline constexpr std::size_t table_count = std::tuple_size_v<row_types>;

}  // namespace gpuprof::capture
