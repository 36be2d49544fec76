// SPDX-License-Identifier: Apache-2.0
// Derives from the name of a sampled counter how its values add up over time.
#pragma once

#include "model/precisions.hpp"

#include <cstdint>
#include <string_view>

namespace gpuprof::host {

enum class summing : std::uint8_t {
  never,               // ratios, extremes: not valid for a part of an interval
  amount,              // counts: summed for a launch
  over_time,           // a mean over time; times the duration it is an amount
  over_active_cycles,  // a mean over the cycles in which SMs had work
};

struct sampled_metric {
  summing how = summing::never;
  bool runs_when_idle = false;   // a clock, which runs with or without work
  bool of_tensor_cores = false;  // only work with tensor instructions changes it
};

/// Takes CUPTI's names: "dram__bytes_read.sum", "sm__cycles_elapsed.avg.per_second".
sampled_metric sampled_metric_of(std::string_view name) noexcept;

}  // namespace gpuprof::host
