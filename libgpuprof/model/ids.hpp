// SPDX-License-Identifier: Apache-2.0
// Distinct integer types for ids, so that a device cannot be passed instead of a stream, and the
// comparison of correlation ids.
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
enum class stack_id : std::uint32_t {};       // index into the stacks; 0 is "no stack"
enum class binary_id : std::uint32_t {};      // of an executable or a library; 0 is none
enum class metric_id : std::uint32_t {};      // index into the metrics of a capture, from 1 on

/// Returns the integer behind an id.
template <class Id>
requires std::is_enum_v<Id>
constexpr auto raw(Id id) noexcept {
  return static_cast<std::underlying_type_t<Id>>(id);
}

// Compares correlation ids. CUPTI numbers the calls of a process with 32 bits, so ids are reused.

/// Within this time no correlation id is reused and is_before() is correct: no program makes more
/// than 2.4 million calls per second.
constexpr duration_ns ids_are_unique_for{1'800'000'000'000};

inline bool is_before(correlation_id one, correlation_id other) noexcept {
  return static_cast<std::int32_t>(raw(one) - raw(other)) < 0;
}

/// Returns true if equal ids seen at these times mean the same call. 0: time not known.
inline bool are_of_one_call(timestamp_ns one, timestamp_ns other) noexcept {
  if (one.value == 0 || other.value == 0) return true;
  return one <= other + ids_are_unique_for && other <= one + ids_are_unique_for;
}

}  // namespace gpuprof
