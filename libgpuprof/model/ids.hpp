// SPDX-License-Identifier: Apache-2.0
// The distinct integer types of a trace, so that a device cannot be passed where a stream is meant;
// and how correlation ids are compared.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <type_traits>

namespace gpuprof {

enum class device_id : std::uint32_t {};
enum class context_id : std::uint32_t {};
enum class stream_id : std::uint32_t {};
enum class correlation_id : std::uint32_t {};
enum class graph_id : std::uint32_t {};       // 0: not part of a graph
enum class graph_node_id : std::uint64_t {};  // 0: not a graph node
enum class name_id : std::uint32_t {};        // index into the name table; 0 is the empty name
enum class shape_id : std::uint32_t {};       // index into the kernel shapes; 0 is "unknown"
enum class thread_index : std::uint32_t {};   // one per thread of the process; 0 is "unknown"
enum class range_id : std::uint64_t {};       // one per opened NVTX range; 0 is "no range"
enum class metric_id : std::uint32_t {};      // index into the metrics of a capture, from 1 on

/// The integer behind an id.
template <class Id>
requires std::is_enum_v<Id>
constexpr auto raw(Id id) noexcept {
  return static_cast<std::underlying_type_t<Id>>(id);
}

// CUPTI numbers the calls of a process in 32 bits: what a correlation id says once they come round.

/// Within this time no correlation id comes twice, and is_before() is right: 2.4 million calls a
/// second are more than any program makes.
constexpr duration_ns ids_are_unique_for{1'800'000'000'000};

inline bool is_before(correlation_id one, correlation_id other) noexcept {
  return static_cast<std::int32_t>(raw(one) - raw(other)) < 0;
}

/// Whether equal ids, seen at these moments, mean the same call. 0: it is not known when.
inline bool are_of_one_call(timestamp_ns one, timestamp_ns other) noexcept {
  if (one.value == 0 || other.value == 0) return true;
  return one <= other + ids_are_unique_for && other <= one + ids_are_unique_for;
}

}  // namespace gpuprof
