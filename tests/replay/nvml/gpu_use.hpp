// SPDX-License-Identifier: Apache-2.0
// Who uses the GPU of the fake machine, as REPLAY_GPU_* variables tell it.
#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::replay {

struct fake_process {
  unsigned pid = 0;
  std::uint64_t memory_bytes = 0;
};

/// REPLAY_GPU_PERCENT=90,50,0: what each call gives, the last for ever; 0 without it.
unsigned next_gpu_percent();

/// REPLAY_GPU_PROCESSES=PID:BYTES,... where PID may be "self".
std::vector<fake_process> const& fake_processes();

/// REPLAY_GPU_MIG=1: the recorded GPU is a MIG slice.
bool fake_gpu_is_slice();

}  // namespace gpuprof::replay
