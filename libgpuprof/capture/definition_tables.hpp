// SPDX-License-Identifier: Apache-2.0
// Tables whose rows other tables refer to. They are written before any row that may use them.
#pragma once

#include "capture/table.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <string_view>

namespace gpuprof::capture {

/// A text, and the number that other tables use for it.
struct name_row {
  name_id id{};
  std::string_view text;
};

/// Describes one column of one table, so that a file documents itself.
struct schema_row {
  std::uint16_t table = 0;
  std::uint16_t column = 0;
  std::string_view table_name;
  std::string_view column_name;
  std::string_view type;  // u8 u16 u32 u64 i32 i64 f64 bool text
  std::string_view unit;  // as in column_note, like `refers_to`
  std::string_view refers_to;
};

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
    column("max_threads_per_sm", at<&device_record::max_threads_per_sm>);
    column("max_blocks_per_sm", at<&device_record::max_blocks_per_sm>);
    column("registers_per_sm", at<&device_record::registers_per_sm>);
    column("shared_bytes_per_sm", at<&device_record::shared_bytes_per_sm>);
    column("reserved_shared_bytes", at<&device_record::reserved_shared_bytes>);
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
    column("shared_bytes_unknown", at<&kernel_shape::shared_bytes_unknown>);
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
struct table<stack_record> {
  static constexpr std::uint16_t number = 33;
  static constexpr std::string_view name = "stack";
  static constexpr bool definition = true;
  static constexpr void columns(auto&& column) {
    column("id", at<&stack_record::stack>);
    column("caller", at<&stack_record::caller>);
    column("file", at<&stack_record::file>);
    column("function", at<&stack_record::function>);
    column("first_line", at<&stack_record::first_line>);
    column("line", at<&stack_record::line>);
    column("module", at<&stack_record::module>);
    column("binary", at<&stack_record::binary>);
    column("address", at<&stack_record::address>);
  }
};

template <>
struct table<binary_record> {
  static constexpr std::uint16_t number = 36;
  static constexpr std::string_view name = "binary";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("id", at<&binary_record::binary>);
    column("path", at<&binary_record::path>);
    column("build_id", at<&binary_record::build_id>);
    column("load_address", at<&binary_record::load_address>);
  }
};

template <>
struct table<source_line_record> {
  static constexpr std::uint16_t number = 35;
  static constexpr std::string_view name = "source_line";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("file", at<&source_line_record::file>);
    column("line", at<&source_line_record::line>);
    column("text", at<&source_line_record::text>);
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

}  // namespace gpuprof::capture
