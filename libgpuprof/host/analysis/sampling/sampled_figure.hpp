// SPDX-License-Identifier: Apache-2.0
// What samples in time say of the launches of a workload.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gpuprof::host {

/// As a share. Kernels are never alike to the last count, and the ends of records are off by as
/// much as work may overlap: so much of a figure is not sure, however many samples there are.
inline constexpr double least_doubt = 0.002;

/// Of amounts the mean of a launch; of rates and percentages that over its time or active cycles.
struct sampled_figure {
  double mean = 0;
  double error = 0;            // a standard error, what is not known at the edges included
  std::uint64_t launches = 0;  // that it is from
  bool is_fitted = false;      // shared samples were told apart by least squares
  double doubt = 0;            // of the error: what more samples do not lessen
};

/// Half of it may be error, or a tenth of what the GPU does in that time while it works (`usual`):
/// one that mostly waits for its program does next to nothing on average over all time.
constexpr bool says_something(double mean, double error, double usual) noexcept {
  return error <= 0.5 * mean || error <= 0.1 * usual;
}

/// By kind of work and column of the samples.
using figure_grid = std::vector<std::vector<std::optional<sampled_figure>>>;

}  // namespace gpuprof::host
