// SPDX-License-Identifier: Apache-2.0
// What NVML said of a GPU, figure by figure, as timelines of other programs show it.
#pragma once

#include "model/records.hpp"

namespace gpuprof {

struct chip_state_figure {
  char const *name, *unit;
  double (*value)(chip_state_record const&);  // 0: NVML did not say
};

inline constexpr chip_state_figure chip_state_figures[] = {
    {"power", "W", [](chip_state_record const& row) { return row.power_mw / 1e3; }},
    {"SM clock by NVML", "MHz",
     [](chip_state_record const& row) { return 1.0 * row.sm_clock_mhz; }},
    {"memory clock", "MHz",
     [](chip_state_record const& row) { return 1.0 * row.memory_clock_mhz; }},
    {"temperature", "\u00b0C",
     [](chip_state_record const& row) { return 1.0 * row.temperature_c; }},
};

}  // namespace gpuprof
