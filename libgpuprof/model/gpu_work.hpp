// SPDX-License-Identifier: Apache-2.0
// Groups, names and measures GPU work in the same way in all reports.
#pragma once

#include "model/records.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof {

/// What counters and durations are kept by: the launches of one kernel in one geometry, those made
/// by CUDA graphs among them; and, a level above, the launches of a graph as a whole.
struct workload_id {
  device_id device{};
  shape_id shape{};  // of the kernel; 0 for a graph
  graph_id graph{};  // 0 for a kernel
  friend auto operator<=>(workload_id const&, workload_id const&) = default;
};

/// A length of time as reports count it: records with an end before their start last 0.
inline std::uint64_t nanoseconds(duration_ns duration) noexcept {
  return duration.value > 0 ? static_cast<std::uint64_t>(duration.value) : 0;
}

/// "Host-to-Device" and so on.
std::string_view direction_of(copy_kind kind) noexcept;
/// "[CUDA memcpy Host-to-Device]".
std::string operation_of(copy_kind kind);
inline constexpr std::string_view operation_of_memset = "[CUDA memset]";
}  // namespace gpuprof
