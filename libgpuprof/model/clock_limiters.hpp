// SPDX-License-Identifier: Apache-2.0
// What lowers the clocks of a GPU, as chip_state_record has it: bits of NVML's clocks event
// reasons.
#pragma once

#include <cstdint>

namespace gpuprof {

inline constexpr std::uint64_t limited_by_nothing_to_do = 0x1, limited_by_power = 0x4 | 0x80,
                               limited_by_heat = 0x20 | 0x40;

}  // namespace gpuprof
