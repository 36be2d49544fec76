// SPDX-License-Identifier: Apache-2.0
// Launches of one workload that differ much in length, looked at in classes of similar length.
#pragma once

#include "host/analysis/sampling/sampled_figure.hpp"
#include "host/analysis/sampling/sampled_metric.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host {

/// Lengths below the first limit are of the first class, and so on; those at or above the last are
/// of the last. Empty where all are alike: one class.
std::vector<std::uint64_t> length_limits(std::vector<std::uint64_t> lengths);

struct class_figure {
  std::uint64_t launches = 0;
  double ns = 0;  // of all of them
  std::optional<sampled_figure> figure;
};

/// The figure of a workload from those of its classes; nullopt where much of its time is in classes
/// without one.
std::optional<sampled_figure> put_together(std::span<class_figure const> classes, summing how);

}  // namespace gpuprof::host
