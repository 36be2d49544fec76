// SPDX-License-Identifier: Apache-2.0
// What CUPTI's names of metrics say of their values.
#pragma once

#include <string_view>

namespace gpuprof {

/// "dram__bytes_read.sum": not a share, a rate or a ratio already, so that it grows with the length
/// of the interval.
constexpr bool is_amount(std::string_view metric) noexcept {
  auto const roll_up = metric.find('.');
  if (roll_up == metric.npos) return true;
  return metric.find('.', roll_up + 1) == metric.npos && metric.substr(roll_up) != ".ratio" &&
         metric.substr(roll_up) != ".pct";
}

}  // namespace gpuprof
