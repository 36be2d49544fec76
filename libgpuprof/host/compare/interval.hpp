// SPDX-License-Identifier: Apache-2.0
// How sure a figure is: of a duration in one run from its repetitions, and of the difference
// between the runs of two sides.
#pragma once

#include "host/compare/run_digest.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::host::compare {

/// x that a standard normal value stays below with this probability.
double normal_quantile(double probability) noexcept;

/// Beyond which |t| lies with probability `alpha`. G. W. Hill, Algorithm 396, CACM 13 (1970).
double student_two_sided(double alpha, double degrees_of_freedom) noexcept;

/// The shift between two small samples by ranks: Mann and Whitney's test turned into an interval.
struct shift {
  double estimate = 0, low = 0, high = 0;
};

/// The median of all pairwise differences (Hodges and Lehmann 1963), and the differences between
/// which the true shift lies but for `alpha`. Exact, whatever the distribution, as long as both
/// have the same. Nothing where so few values cannot show it.
std::optional<shift> rank_interval(std::span<double const> base, std::span<double const> fresh,
                                   double alpha);

/// Of one figure, a value a run: logarithms, so that differences are shares.
struct observations {
  struct run {
    double value = 0;
    double error = 0;  // one standard error, from the repetitions within the run
    double freedom = 0;
  };
  std::vector<run> base, fresh;
  /// One run a side does not say how far runs of the same program lie apart; less than this is then
  /// not told from it.
  double floor = 0;
  /// Variance between runs of a side, as figures of this kind have it; 0: not known.
  double usual_variance = 0;

  bool is_single() const noexcept { return base.size() == 1 && fresh.size() == 1; }
};

enum class noise_source : std::uint8_t {
  none,          // too few repetitions
  repetitions,   // within the one run of each side, and the floor
  student,       // Student's t on the values of runs
  mann_whitney,  // with the interval of Hodges and Lehmann
};
std::string_view name_of(noise_source from) noexcept;

struct interval {
  double estimate = 0;  // fresh over base, a logarithm
  double low = 0, high = 0;
  noise_source from = noise_source::none;
  bool is_known() const noexcept { return from != noise_source::none; }
  double half_width() const noexcept { return (high - low) / 2; }
  bool excludes_zero() const noexcept { return is_known() && (low > 0 || high < 0); }
};

/// That the true difference lies outside has the probability `alpha`. Mann and Whitney's where so
/// many runs can show it at all, else Student's.
interval interval_of(observations const& of, double alpha);

/// Variance between the runs of a side, both together; nothing where there is one run a side.
std::optional<double> variance_between_runs(observations const& of);

/// How many runs a side would make the half width `target`: 0: none up to a hundred.
std::size_t runs_needed(observations const& of, double alpha, double target);

/// What a duration is in one run, and how sure that is from its repetitions.
struct estimate {
  double mean = 0;     // ns: the trimmed mean of blocks
  double error = 0;    // one standard error, as a share of the mean
  double freedom = 0;  // degrees of it; 0: too few repetitions to say
  /// As `error`, of what comes and goes from block to block: what wanders slowly is left out, for
  /// comparisons with other kernels of the run, which wander alike.
  double fast_error = 0;
  bool is_known() const noexcept { return freedom > 0; }
};

/// The mean without a tenth of the blocks at either end, and its error from the spread of the
/// others pulled in to them (Yuen 1974). What comes one after the other is alike (the GPU grows
/// warm), which makes the mean less sure than so many independent values would: the error is that
/// of blocks of whichever length makes it greatest (Flyvbjerg and Petersen 1989).
estimate estimate_of(duration_series const& durations);

}  // namespace gpuprof::host::compare
