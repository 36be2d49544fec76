// SPDX-License-Identifier: Apache-2.0
// A value of a workload's launches that was derived from samples.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gpuprof::host {

/// As a share. Kernels never count exactly alike, and record ends are off by up to clock_slack_ns,
/// so this part of a figure stays uncertain with any number of samples.
inline constexpr double least_doubt = 0.002;

/// For amounts, the mean per launch; for rates and percentages, the mean over its time or active
/// cycles.
struct sampled_figure {
  double mean = 0;
  double error = 0;            // one standard error, including what is not known at the edges
  std::uint64_t launches = 0;  // launches used
  bool is_fitted = false;      // from a least-squares fit of shared samples
  double doubt = 0;            // the part of `error` that more samples do not reduce
};

/// Accepts an error of up to half the value, or up to a tenth of `usual`, the GPU's amount in that
/// time while it works. (An average over all time would be near 0 for a GPU that mostly waits.)
constexpr bool says_something(double mean, double error, double usual) noexcept {
  return error <= 0.5 * mean || error <= 0.1 * usual;
}

/// Indexed by kind of work, then by column of the samples.
using figure_grid = std::vector<std::vector<std::optional<sampled_figure>>>;

}  // namespace gpuprof::host
