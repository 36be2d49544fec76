// SPDX-License-Identifier: Apache-2.0
// Facts about measured values by their name: CUPTI's metrics, and NVML's figures as timelines of
// other programs show them.
#pragma once

#include "model/records.hpp"

#include <string_view>

namespace gpuprof::host {

/// True for "dram__bytes_read.sum": the value grows with the length of the interval, because it is
/// not already a share, rate or ratio.
constexpr bool is_amount(std::string_view metric) noexcept {
  auto const roll_up = metric.find('.');
  if (roll_up == metric.npos) return true;
  return metric.find('.', roll_up + 1) == metric.npos && metric.substr(roll_up) != ".ratio" &&
         metric.substr(roll_up) != ".pct";
}

/// A value that NVML gave for a GPU.
struct chip_state_figure {
  char const *name, *unit;
  double (*value)(chip_state_record const&);  // returns 0 if NVML gave no value
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

}  // namespace gpuprof::host
