// SPDX-License-Identifier: Apache-2.0
// Tables of events: GPU work, calls of the program, ranges.
#pragma once

#include "capture/table.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <string_view>

namespace gpuprof::capture {

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
    column("stack", at<&kernel_record::stack>);
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
    column("stack", at<&graph_record::stack>);
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
    column("batch", at<&copy_record::batch>);
    column("stack", at<&copy_record::stack>);
    column("time_of", at<&copy_record::time_of>);
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
    column("stack", at<&memset_record::stack>);
    column("time_of", at<&memset_record::time_of>);
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
    column("stack", at<&api_record::stack>);
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
    column("color", at<&range_begin::color>);
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
    column("color", at<&mark_record::color>);
    column("payload", at<&mark_record::payload>);
    column("payload_bits", at<&mark_record::payload_bits>);
  }
};

}  // namespace gpuprof::capture
