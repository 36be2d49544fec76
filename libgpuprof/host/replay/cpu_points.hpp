// SPDX-License-Identifier: Apache-2.0
// Arranges the activity of threads in lanes: points in order of time, with CPU work between them.
#pragma once

#include "host/replay/recorded_steps.hpp"

#include <vector>

namespace gpuprof::host::replay {

enum class point_kind : std::uint8_t { launch, call, step_begin, range_mark };

/// A moment at which the program launched work or entered a call, or at which a range begins or
/// ends.
struct cpu_point {
  std::int64_t begin_ns = 0, end_ns = 0;  // end_ns: the call returned; others: as begin_ns
  std::int64_t work_ns = 0;               // CPU work of its lane just before it
  point_kind kind{};
  call_kind call{};
  std::uint32_t lane = 0;
  std::uint32_t thread = 0;          // as in recorded_steps; several may share a lane
  std::uint32_t name = nothing;      // calls: index into call_names
  std::uint32_t range = nothing;     // innermost range during the work before it: index into ranges
  std::vector<std::uint32_t> items;  // launches: what was launched, in order of its start

  /// True for the call behind a launch that made it.
  bool is_of_launch() const noexcept {
    return kind == point_kind::call && call == call_kind::launch;
  }
};

/// Threads that hand over to each other share a lane: autograd's thread works while the one that
/// called `backward` waits. A thread that works beside them has a lane of its own.
struct cpu_lanes {
  std::vector<cpu_point> points;  // of all lanes, in order of time
  std::uint32_t lanes = 1;        // the first are those of the steps, one of each rank
  std::uint32_t shared = 0;       // threads that share the lane of their steps with its thread
  std::vector<std::uint32_t> rank_of_lane = {0};
  std::vector<std::int64_t> begin_ns = {0};  // by lane: those of steps begin with their first point

  bool is_of_steps(std::uint32_t lane) const noexcept { return rank_of_lane[lane] == lane; }
};

/// Items launched before the first step have no point.
cpu_lanes lanes_of(recorded_steps const& steps);

}  // namespace gpuprof::host::replay
