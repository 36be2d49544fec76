// SPDX-License-Identifier: Apache-2.0
// Counts floating-point operations of workloads from the counters read around launches.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "model/flop_counters.hpp"

#include <string_view>
#include <vector>

namespace gpuprof::host {

/// The operations from one counter, with the peak to compare them with.
struct flop_part {
  flop_counter const* counter = nullptr;
  double operations = 0;
};

/// Calls count_flop() with the readings of the workload.
counted_flop count_flop(launch_metrics const& metrics, workload_id const& workload,
                        std::string_view chip, kernel_code const* code = nullptr);
/// Uses the counters that were read, even if others of the same precision were not.
std::vector<flop_part> flop_parts(launch_metrics const& metrics, workload_id const& workload);

}  // namespace gpuprof::host
