// SPDX-License-Identifier: Apache-2.0
// Floating-point operations of the workloads of a capture, from the counters read around launches.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "model/flop_counters.hpp"

#include <string_view>
#include <vector>

namespace gpuprof::host {

/// One counter's share of it: operations with the peak they are to be compared with.
struct flop_part {
  flop_counter const* counter = nullptr;
  double operations = 0;
};

/// count_flop() of what was read around launches of the workload.
counted_flop count_flop(launch_metrics const& metrics, workload_id const& workload,
                        std::string_view chip, kernel_code const* code = nullptr);
/// Of the counters that were read, also where others of their precision were not.
std::vector<flop_part> flop_parts(launch_metrics const& metrics, workload_id const& workload);

}  // namespace gpuprof::host
