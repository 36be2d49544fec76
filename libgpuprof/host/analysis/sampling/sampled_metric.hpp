// SPDX-License-Identifier: Apache-2.0
// How the values of a sampled counter add up over time, as its name says.
#pragma once

#include "model/precisions.hpp"

#include <cstdint>
#include <string_view>

namespace gpuprof::host {

enum class summing : std::uint8_t {
  never,               // ratios, extremes: what holds of an interval holds of no part of it
  amount,              // counts; the figure of a launch is their sum
  over_time,           // a mean over time: times the time it is an amount
  over_active_cycles,  // a mean over the cycles in which SMs had work
};

struct sampled_metric {
  summing how = summing::never;
  bool runs_when_idle = false;   // a clock: whether work ran does not move it
  bool of_tensor_cores = false;  // only work with tensor instructions moves it
};

/// Of CUPTI's names: "dram__bytes_read.sum", "sm__cycles_elapsed.avg.per_second".
sampled_metric sampled_metric_of(std::string_view name) noexcept;

}  // namespace gpuprof::host
