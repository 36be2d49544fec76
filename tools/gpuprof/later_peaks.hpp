// SPDX-License-Identifier: Apache-2.0
// Peaks of a GPU that were stored after a capture of it was made.
#pragma once

#include "base/time.hpp"
#include "model/peaks.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace gpuprof {

/// What a capture says of a GPU.
struct captured_gpu {
  std::string uuid, driver_version;
  std::uint32_t sm_count = 0, max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  bool is_imported = false;  // from another profiler's file, which may lack any of the above
};

/// The newest that are stored on this machine of the same GPU, under the same driver, measured
/// after that moment. Those from before it would be in the capture if they held for the GPU as it
/// was.
std::optional<gpu_peaks> later_peaks(captured_gpu const& gpu, timestamp_ns after);

}  // namespace gpuprof
