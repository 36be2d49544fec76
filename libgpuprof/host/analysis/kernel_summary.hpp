// SPDX-License-Identifier: Apache-2.0
// Sums how long kernels ran: per name, or per name, grid and block.
#pragma once

#include "host/analysis/inferred_times.hpp"
#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host {

/// The durations of all kernels, by shape. Both summaries use this class.
class kernel_durations {
 public:
  /// `has_own_time`: the duration is not the mean of other launches of its shape.
  void add(kernel_record const& kernel, bool has_own_time = true) {
    auto const shape = raw(kernel.shape) <= largest_shape ? raw(kernel.shape) : 0;
    if (shape >= by_shape_.size()) by_shape_.resize(shape + 1);
    by_shape_[shape].add(nanoseconds(kernel.duration));
    if (has_own_time) inferred_.add(kernel, shape);
  }
  void add(std::span<kernel_record const> kernels) {
    for (auto const& kernel : kernels) add(kernel);
  }
  std::size_t shapes() const noexcept { return by_shape_.size(); }
  samples& of(std::size_t shape) noexcept { return by_shape_[shape]; }
  inferred_times const& inferred() const noexcept { return inferred_; }

 private:
  inferred_times inferred_;
  std::vector<samples> by_shape_;
};

struct kernel_row {
  std::string name;
  extent3 grid, block;  // zero in summaries by name only
  statistics time;
  /// Only if times of the capture were taken from other launches.
  std::optional<inferred_time> inferred = {};
};

/// Rows have the longest total first; equal totals are sorted by count, then by name.
std::vector<kernel_row> kernels_by_name(kernel_durations&, kernel_labels const&);
std::vector<kernel_row> kernels_by_name_and_geometry(kernel_durations&, kernel_labels const&,
                                                     std::span<kernel_shape const> shapes);

}  // namespace gpuprof::host
