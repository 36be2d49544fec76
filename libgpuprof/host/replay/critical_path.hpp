// SPDX-License-Identifier: Apache-2.0
// The chain of work, calls and waits that makes steps as long as they are.
#pragma once

#include "host/replay/replay.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuprof::host::replay {

enum class path_part : std::uint8_t {
  kernels,  // and fills
  copies,
  cpu_work,
  calls,       // the time of calls that wait for nothing
  start,       // from a launch to its start on the GPU, and pauses between items
  unexplained  // delays that nothing recorded explains
};
inline constexpr std::size_t path_part_count = 6;
std::string_view name_of(path_part part) noexcept;  // "CPU work"
std::string_view key_of(path_part part) noexcept;   // "cpu_work", for programs

/// All in nanoseconds of a step.
struct critical_path {
  std::array<double, path_part_count> ns{};
  /// The time by which items of the path began later than recorded facts say, because of another
  /// stream's item: inferred.
  double inferred_ns = 0;

  double operator[](path_part part) const noexcept { return ns[static_cast<std::size_t>(part)]; }
  double& operator[](path_part part) noexcept { return ns[static_cast<std::size_t>(part)]; }
  double total_ns() const noexcept;
};

critical_path path_of(step_edit const& edit, replayed_steps const& replayed);

/// A stretch of time on the path.
struct path_stretch {
  std::int64_t begin_ns = 0, end_ns = 0;
  path_part part{};
  /// Kernels, fills and copies: index into work_names; calls: into call_names; CPU work: the
  /// innermost range around it, index into range_names. `nothing`: no name.
  std::uint32_t name = nothing;
  bool is_item = false;             // of GPU work, with its start; else of a point
  std::uint32_t element = nothing;  // index of the item or point
};

struct stretches_of_path {
  std::vector<path_stretch> path;  // from the end to the begin, without gaps
  std::vector<path_stretch>
      inferred;  // what critical_path::inferred_ns sums; `part` has no meaning
};
stretches_of_path stretches_of(step_edit const& edit, replayed_steps const& replayed);

}  // namespace gpuprof::host::replay
