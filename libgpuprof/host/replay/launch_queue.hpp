// SPDX-License-Identifier: Apache-2.0
// Finds launches that waited because the queue of their GPU was full.
#pragma once

#include "host/replay/cpu_points.hpp"

#include <vector>

namespace gpuprof::host::replay {

/// After 1,022 launches that have not run, a launch waits inside `cuLaunchKernel` (H100). In
/// programs that are bound by the GPU, 90 to 99 % of the launching thread's time is spent so.
struct full_queue {
  std::uint32_t length = 0;   // 0: it was never full
  std::vector<bool> is_full;  // by point
};

full_queue full_queue_of(recorded_steps const& steps, cpu_lanes const& lanes);

}  // namespace gpuprof::host::replay
