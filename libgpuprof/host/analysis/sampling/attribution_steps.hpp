// SPDX-License-Identifier: Apache-2.0
// The steps by which samples are attributed to work: work that had the GPU to itself, alone or with
// others of its kind, and work that no record tells of. sample_attribution runs them.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

#include <optional>

namespace gpuprof::host {

/// Launches that last at least so many intervals hold at least one of them wholly.
inline constexpr double intervals_of_long_launch = 2;

/// Gives samples to launches that had the GPU to themselves and lasted several of them: counts of
/// launches that lie in samples without a gap while nothing else runs. A sample at the
/// edge belongs to the launch, unless other work ran in it too.
void attribute_by_overlap(sample_series const& samples, device_work const& work,
                          figure_grid& figures);

/// Attributes samples in which launches of one kind ran and nothing else, whole launches or not.
///
/// Fills in figures that nothing else tells, and those that are twice as sure so: short kernels
/// that the program waits for, and long ones of which windows hold parts.
void attribute_lone_samples(sample_series const& samples, device_work const& work,
                            figure_grid& figures);

/// Whether the GPU worked while nothing of the capture ran: other programs were there, or filters
/// left work out. Returns the share of the cycles in which SMs had work, in samples in which
/// nothing ran, nor in those beside them. nullopt: too few of these, or their cycles were not
/// sampled.
std::optional<double> unseen_activity(sample_series const& samples, device_work const& work);

// Tells apart, by least squares, work that shares samples: short kernels, and what runs together.

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
