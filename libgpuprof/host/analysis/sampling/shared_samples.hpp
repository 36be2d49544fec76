// SPDX-License-Identifier: Apache-2.0
// Tells apart, by least squares, work that shares samples: short kernels, and what runs together.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

namespace gpuprof::host {

/// Why a kind of launches has no figure; of several reasons the last.
enum class no_figure : std::uint8_t {
  has_one,
  too_few,         // samples
  too_many,        // other kinds that take more time
  not_told_apart,  // always in the same proportions as other work
};

/// Fills in launches without a figure, and betters those of few samples: what a sample counted is
/// the sum over the work in it, each with its amount times the part of it that ran there. Amounts
/// cannot be negative. Each kind has 3 to 13 unknowns, and what is beyond so many of them is
/// one kind; the time it takes grows with their square. `without_tensor`: by kind, whether it
/// cannot use the tensor cores; may be empty. Returns by kind: what stood in the way.
std::vector<no_figure> tell_apart(sample_series const& samples, device_work const& work,
                                  figure_grid& figures, std::size_t max_unknowns,
                                  std::vector<bool> const& without_tensor = {});

}  // namespace gpuprof::host
