// SPDX-License-Identifier: Apache-2.0
// Readings of other ranks of a job, for kernels that are the same in each of them.
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

/// What a kernel is in any process: the same function, geometry and arguments on the same chip.
struct kernel_identity {
  std::string name, chip;
  extent3 grid, block, cluster;
  std::uint32_t dynamic_shared_bytes = 0, arguments = 0;  // these as in kernel_shape
  friend auto operator<=>(kernel_identity const&, kernel_identity const&) = default;
};

struct identified_kernel {
  workload_id workload;
  std::optional<double> mean_ns;  // of a launch
};
using identified_kernels = std::map<kernel_identity, identified_kernel>;

/// The kernels of a capture, without those that are launched with too many different arguments.
/// `times` is complete.
identified_kernels identify(workload_times const& times, std::span<kernel_shape const> shapes,
                            std::function<std::string(name_id)> const& text_of,
                            std::function<std::string(device_id)> const& chip_of);

/// Gives `mine` what was read of the same kernels by another rank, metric by metric where it has
/// none of its own, if they take as long there. How many kernels it is of.
std::size_t adopt_readings(launch_metrics& mine, identified_kernels const& here,
                           launch_metrics const& theirs, identified_kernels const& there,
                           std::uint32_t rank);

}  // namespace gpuprof::host
