// SPDX-License-Identifier: Apache-2.0
// Tables of measured values: peaks, readings, samples, and the analysis of machine code.
#pragma once

#include "capture/table.hpp"
#include "model/kernel_code.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <string_view>

namespace gpuprof::capture {

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
struct table<read_launch_record> {
  static constexpr std::uint16_t number = 25;
  static constexpr std::string_view name = "read_launch";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("correlation", at<&read_launch_record::correlation>);
    column("device", at<&read_launch_record::device>);
    column("context", at<&read_launch_record::context>);
    column("group", at<&read_launch_record::group>);
    column("opened", at<&read_launch_record::opened>);
    column("closed", at<&read_launch_record::closed>);
    column("reading", at<&read_launch_record::reading>);
    column("whole_graph", at<&read_launch_record::whole_graph>);
  }
};

template <>
struct table<reading_value_record> {
  static constexpr std::uint16_t number = 26;
  static constexpr std::string_view name = "reading_value";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("correlation", at<&reading_value_record::correlation>);
    column("metric", at<&reading_value_record::metric>);
    column("value", at<&reading_value_record::value>);
  }
};

template <>
struct table<sample_record> {
  static constexpr std::uint16_t number = 27;
  static constexpr std::string_view name = "sample";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("metric", at<&sample_record::metric>);
    column("start", at<&sample_record::start>);
    column("duration", at<&sample_record::duration>);
    column("value", at<&sample_record::value>);
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
struct table<hold_record> {
  static constexpr std::uint16_t number = 30;
  static constexpr std::string_view name = "hold";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&hold_record::start>);
    column("duration", at<&hold_record::duration>);
  }
};

template <>
struct table<pause_record> {
  static constexpr std::uint16_t number = 32;
  static constexpr std::string_view name = "pause";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("device", at<&pause_record::device>);
    column("start", at<&pause_record::start>);
    column("duration", at<&pause_record::duration>);
  }
};

template <>
struct table<chip_state_record> {
  static constexpr std::uint16_t number = 31;
  static constexpr std::string_view name = "chip_state";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("device", at<&chip_state_record::device>);
    column("time", at<&chip_state_record::time>);
    column("sm_clock_mhz", at<&chip_state_record::sm_clock_mhz>);
    column("memory_clock_mhz", at<&chip_state_record::memory_clock_mhz>);
    column("power_mw", at<&chip_state_record::power_mw>);
    column("temperature_c", at<&chip_state_record::temperature_c>);
    column("limiters", at<&chip_state_record::limiters>);
  }
};

template <>
struct table<thread_sample_record> {
  static constexpr std::uint16_t number = 34;
  static constexpr std::string_view name = "thread_sample";
  static constexpr bool definition = false;
  static constexpr void columns(auto&& column) {
    column("start", at<&thread_sample_record::start>);
    column("duration", at<&thread_sample_record::duration>);
    column("os_thread", at<&thread_sample_record::os_thread>);
    column("state", at<&thread_sample_record::state>);
    column("looks", at<&thread_sample_record::looks>);
    column("on_core_ns", at<&thread_sample_record::on_core_ns>);
    column("wanted_core_ns", at<&thread_sample_record::wanted_core_ns>);
    column("stack", at<&thread_sample_record::stack>);
    column("holder", at<&thread_sample_record::holder>);
    column("is_child", at<&thread_sample_record::is_child>);
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

}  // namespace gpuprof::capture
