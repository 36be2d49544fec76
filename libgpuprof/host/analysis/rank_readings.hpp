// SPDX-License-Identifier: Apache-2.0
// Shares readings between the ranks of a job, for kernels that are the same in each of them.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "host/analysis/workload_times.hpp"

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace gpuprof::host {

/// Identifies a kernel across processes: the same function, geometry and arguments on the same
/// chip.
struct kernel_identity {
  std::string name, chip;
  extent3 grid, block, cluster;
  std::uint32_t dynamic_shared_bytes = 0, arguments = 0;  // as in kernel_shape
  friend auto operator<=>(kernel_identity const&, kernel_identity const&) = default;
};

struct identified_kernel {
  workload_id workload;
  std::optional<double> mean_ns;  // of one launch
};
using identified_kernels = std::map<kernel_identity, identified_kernel>;

/// Returns the kernels of a capture, without those launched with too many different arguments.
/// `times` must be complete.
identified_kernels identify(workload_times const& times, std::span<kernel_shape const> shapes,
                            std::function<std::string(name_id)> const& text_of,
                            std::function<std::string(device_id)> const& chip_of);

/// Adds to `mine` the metrics that another rank read for the same kernels and that it lacks, if the
/// kernels take as long there. Returns the number of kernels changed.
std::size_t adopt_readings(launch_metrics& mine, identified_kernels const& here,
                           launch_metrics const& theirs, identified_kernels const& there,
                           std::uint32_t rank);

}  // namespace gpuprof::host
