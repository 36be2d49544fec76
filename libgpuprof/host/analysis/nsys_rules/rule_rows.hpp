// SPDX-License-Identifier: Apache-2.0
// Rows of nsys' rules, and tests for the calls and copies that each rule lists.
#pragma once

#include "model/records.hpp"

#include <string_view>

namespace gpuprof::host::nsys_rules {

/// Row of cuda_memcpy_async, cuda_memcpy_sync and cuda_memset_sync.
struct memory_row {
  std::uint64_t duration = 0;
  timestamp_ns start;
  memory_kind source{}, destination{};  // fills use `destination` only
  std::uint64_t bytes = 0;
  device_id device{};
  context_id context{};
  stream_id stream{};
  name_id call{};
};
/// Row of cuda_api_sync.
struct call_row {
  std::uint64_t duration = 0;
  timestamp_ns start;
  std::uint32_t os_thread = 0;
  name_id call{};
};
/// Row of gpu_gaps.
struct gap_row {
  std::uint64_t duration = 0;
  timestamp_ns start;
  device_id device{};
  context_id context{};
};
/// Row of gpu_time_util.
struct use_row {
  double percent = 0;
  std::uint64_t duration = 0;
  timestamp_ns start;
  device_id device{};
  context_id context{};
};

/// A period in which a GPU is busy, as nsys defines it.
struct gpu_work {
  device_id device{};
  context_id context{};
  timestamp_ns start, end;
};
template <class Row>
gpu_work work_of(Row const& row) noexcept {
  return {row.device, row.context, row.start, row.start + row.duration};
}
/// nsys lists migrations as copies without a context, on the GPU of the transfer.
inline bool is_migration(unified_memory_record const& row) noexcept {
  return row.counter == 1 || row.counter == 2 || row.counter == 8;
}
inline gpu_work work_of(unified_memory_record const& row) noexcept {
  auto const to_host = row.counter == 2;
  return {to_host ? row.source_device : row.destination_device,
          {},
          row.start,
          row.start + row.duration};
}

/// nsys says 64 KB in its text, but its query uses 64,000.
inline constexpr std::uint64_t small_copy = 64'000;

bool is_asynchronous_copy_call(std::string_view name, api_domain domain) noexcept;
bool is_blocking_copy_call(std::string_view name, api_domain domain) noexcept;
bool is_blocking_fill_call(std::string_view name, api_domain domain) noexcept;
bool is_wait_call(std::string_view name, api_domain domain) noexcept;

inline bool is_pageable(copy_record const& copy) noexcept {
  return copy.source_kind == memory_kind::pageable ||
         copy.destination_kind == memory_kind::pageable;
}
/// Returns false for copies within one GPU and for small copies to the GPU, which do not make the
/// host wait.
inline bool waits_for_host(copy_record const& copy) noexcept {
  auto const is_small_to_device =
      copy.kind == copy_kind::host_to_device && copy.bytes <= small_copy;
  auto const names_two_gpus = copy.kind == copy_kind::peer_to_peer ||
                              copy.source_device != copy.device ||
                              copy.destination_device != copy.device;
  return !is_small_to_device && !(names_two_gpus && copy.source_device == copy.destination_device);
}
inline bool is_of_host_memory(memset_record const& fill) noexcept {
  return fill.kind == memory_kind::pinned || fill.kind == memory_kind::managed;
}

}  // namespace gpuprof::host::nsys_rules
