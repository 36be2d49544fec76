// SPDX-License-Identifier: Apache-2.0
// What lowers the clocks of a GPU: bits of NVML's clocks event reasons, as records have them.
#pragma once

#include <cstdint>

namespace gpuprof::limited_by {

inline constexpr std::uint64_t nothing_to_do = 0x1, application_clocks = 0x2, power_cap = 0x4,
                               slowdown = 0x8, sync_boost = 0x10, heat = 0x20 | 0x40,
                               power_brake = 0x80, display = 0x100, all_known = 0x1ff;

}  // namespace gpuprof::limited_by
