// SPDX-License-Identifier: Apache-2.0
// The steps that attribute samples to work: work that had the GPU to itself, alone or with others
// of its kind, and work without records. Called by sample_attribution.
#pragma once

#include "host/analysis/sampling/device_work.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host {

/// A launch of at least this many intervals contains at least one whole interval.
inline constexpr double intervals_of_long_launch = 2;

/// Attributes samples to launches that had the GPU to themselves and lasted for several samples
/// without a gap. A sample at the edge belongs to the launch, unless other work ran in it too.
void attribute_by_overlap(sample_series const& samples, device_work const& work,
                          std::span<std::uint32_t const> columns, figure_grid& figures);

/// Attributes samples in which only launches of one kind ran, even if only partly.
///
/// Fills in missing figures, and replaces figures with more than twice the error. Helps with short
/// kernels that the program waits for, and with long ones that are only partly inside a sampling
/// window.
void attribute_lone_samples(sample_series const& samples, device_work const& work,
                            std::span<std::uint32_t const> columns, figure_grid& figures);

/// Subtracts from tensor columns what work without tensor instructions adds to them: HFMA2.MMA runs
/// on the pipe of the tensor cores, and compilers use it to set registers. `without_tensor` says
/// which kinds this is, `with_tensor` has the other work. Learns the rates from samples in which
/// only such work ran. Returns how unsure the subtracted amounts are, by column and then sample.
std::vector<std::vector<float>> subtract_work_without_tensor(
    sample_series& samples, device_work const& work, device_work const& with_tensor,
    std::vector<bool> const& without_tensor, std::span<std::uint32_t const> columns);

/// Adds these doubts to the errors of figures of work with tensor instructions.
void add_doubts(sample_series const& samples, device_work const& work,
                std::span<std::uint32_t const> columns, std::span<std::vector<float> const> doubts,
                figure_grid& figures);

/// Attributes stretches of samples at whose ends none of this work runs: they contain whole
/// launches, and their amounts need no model. Stretches that end close to the end of a launch count
/// too, with an error. Combines the sums of several kinds with the figures
/// that are known already, and increases errors of fitted figures that these sums refute. `doubts`
/// are those of subtract_work_without_tensor(), or empty.
void attribute_whole_launches(sample_series const& samples, device_work const& work,
                              std::span<std::uint32_t const> columns,
                              std::span<std::vector<float> const> doubts, figure_grid& figures);

/// Returns how busy the GPU was while nothing of the capture ran: the share of cycles with work on
/// the SMs, in idle samples between idle samples. It is above 0 if other programs ran or filters
/// left work out. nullopt: too few such samples, or these cycles were not sampled.
std::optional<double> unseen_activity(sample_series const& samples, device_work const& work);

// Attributes samples that several kinds of work share, by least squares: short kernels, and work
// that runs together.

/// The reason why a kind of launches has no figure. If there are several, the last one.
enum class no_figure : std::uint8_t {
  has_one,
  too_few,         // too few samples
  too_many,        // no room: other kinds take more time
  not_told_apart,  // always in the same proportion to other work
};

/// Adds missing figures and improves those from few samples with a fit: a sample's count is the sum
/// over the work in it, each with its amount times the part that ran there. Amounts cannot be
/// negative. Each kind has 3 to 13 unknowns; kinds beyond `max_unknowns` are treated as one. The
/// run time grows with the square of the number of unknowns. `without_tensor`: for each kind, true
/// if it cannot use the tensor cores; may be empty. Returns for each kind why it has no figure.
std::vector<no_figure> tell_apart(sample_series const& samples, device_work const& work,
                                  std::span<std::uint32_t const> columns, figure_grid& figures,
                                  std::size_t max_unknowns,
                                  std::vector<bool> const& without_tensor = {});

}  // namespace gpuprof::host
