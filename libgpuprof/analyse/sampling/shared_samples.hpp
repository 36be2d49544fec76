// Tells apart, by least squares, work that shares samples: short kernels, and what runs together.
#pragma once

#include "analyse/sampling/device_work.hpp"
#include "analyse/sampling/sampled_figure.hpp"

namespace gpuprof {

struct left_without_figures {
  std::uint64_t not_told_apart = 0;  // always in the same proportions as other work
  std::uint64_t too_few = 0;         // samples
};

/// Fills in launches without a figure, and betters those of few samples: what a sample counted is
/// the sum over the work in it, each with its amount times the part of it that ran there. Amounts
/// cannot be negative.
left_without_figures tell_apart(sample_series const& samples, device_work const& work,
                                figure_grid& figures);

}  // namespace gpuprof
