// SPDX-License-Identifier: Apache-2.0
// Makes small traces for tests: trace_of({range("step", 0_us, 100_us), kernel("gemm", 20_us,
// 40_us)}).
#pragma once

#include "model/name_table.hpp"
#include "model/records.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::test {

constexpr duration_ns operator""_ns(unsigned long long n) {
  return {static_cast<std::int64_t>(n)};
}
constexpr duration_ns operator""_us(unsigned long long n) {
  return {static_cast<std::int64_t>(n) * 1000};
}
constexpr duration_ns operator""_ms(unsigned long long n) {
  return {static_cast<std::int64_t>(n) * 1'000'000};
}

/// Times in tests count from here.
inline constexpr timestamp_ns trace_start{1'700'000'000'000'000'000};

/// "k7" of "k" and 7.
std::string numbered(std::string name, int number);

enum class event_kind { range, kernel, copy, fill, graph, call };

/// Something that happened from `start` to `end`; the calls chain: kernel(...).on_thread(2).
struct event {
  event_kind kind{};
  std::string name;
  duration_ns start, end;
  duration_ns launch{-1};  // -1: when it started
  std::uint32_t thread = 1;
  std::string domain_name;
  range_style style = range_style::push_pop;
  bool never_ends = false;
  extent3 grid_size{1, 1, 1}, block_size{32, 1, 1};
  std::uint64_t byte_count = 0;
  copy_kind direction = copy_kind::host_to_device;
  std::uint32_t correlation_number = 0;
  api_domain api = api_domain::runtime;

  event launched_at(duration_ns at) const;
  event on_thread(std::uint32_t number) const;
  event in_domain(std::string name) const;
  event start_end() const;
  event left_open() const;
  event shaped(extent3 grid, extent3 block) const;
  event correlated(std::uint32_t number) const;
  event of_driver() const;
};

event range(std::string name, duration_ns start, duration_ns end);
event kernel(std::string name, duration_ns start, duration_ns end);
event copy(copy_kind direction, std::uint64_t bytes, duration_ns start, duration_ns end);
event fill(std::uint64_t bytes, duration_ns start, duration_ns end);
event graph(duration_ns start, duration_ns end);
event call(std::string function, duration_ns start, duration_ns end);

struct trace {
  name_table names;
  std::vector<kernel_shape> shapes;
  std::vector<kernel_record> kernels;
  std::vector<copy_record> copies;
  std::vector<memset_record> fills;
  std::vector<graph_record> graphs;
  std::vector<api_record> calls;
  std::vector<range_begin> begins;
  std::vector<range_end> ends;
  timestamp_ns last{};

  std::function<std::string_view(name_id)> text() const;
  /// The id of the n-th range of this name, in order of beginning.
  range_id id_of(std::string_view name, std::size_t n = 0) const;
};

/// Does what the library does while it records: nests ranges by thread, and gives each launch the
/// innermost range open on its thread.
trace trace_of(std::vector<event> events);

}  // namespace gpuprof::test
