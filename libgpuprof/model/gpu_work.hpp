// SPDX-License-Identifier: Apache-2.0
// Groups, names and measures GPU work in the same way for all reports.
#pragma once

#include "model/records.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof {

/// The key of counters and durations: the launches of one kernel in one geometry, including those
/// from CUDA graphs; or, one level above, the launches of a whole graph.
struct workload_id {
  device_id device{};
  shape_id shape{};  // of the kernel; 0 for a graph
  graph_id graph{};  // 0 for a kernel
  friend auto operator<=>(workload_id const&, workload_id const&) = default;
};

/// The duration for reports: 0 if the record ends before it starts.
inline std::uint64_t nanoseconds(duration_ns duration) noexcept {
  return duration.value > 0 ? static_cast<std::uint64_t>(duration.value) : 0;
}

/// Returns "Host-to-Device" and so on.
std::string_view direction_of(copy_kind kind) noexcept;
/// Returns "[CUDA memcpy Host-to-Device]".
std::string operation_of(copy_kind kind);
inline constexpr std::string_view operation_of_memset = "[CUDA memset]";
}  // namespace gpuprof
