// SPDX-License-Identifier: Apache-2.0
// Computes confidence intervals: for a duration in one run from its repetitions, and for the
// difference between the runs of two sides.
#pragma once

#include "host/compare/run_digest.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::host::compare {

/// Returns x so that a standard normal value is below x with this probability.
double normal_quantile(double probability) noexcept;

/// Returns the limit that |t| exceeds with probability `alpha`. G. W. Hill, Algorithm 396, CACM 13
/// (1970).
double student_two_sided(double alpha, double degrees_of_freedom) noexcept;

/// The shift between two small samples by ranks: the interval from the Mann-Whitney test.
struct shift {
  double estimate = 0, low = 0, high = 0;
};

/// Returns the median of all pairwise differences (Hodges and Lehmann 1963), and the differences
/// that contain the true shift with probability 1 - `alpha`. Exact for any distribution that both
/// samples share. Returns nothing if there are too few values.
std::optional<shift> rank_interval(std::span<double const> base, std::span<double const> fresh,
                                   double alpha);

/// Values of one line, one per run. They are logarithms, so that differences are shares.
struct observations {
  struct run {
    double value = 0;
    double error = 0;  // one standard error, from the repetitions within the run
    double freedom = 0;
  };
  std::vector<run> base, fresh;
  /// Used with one run per side, which does not show how much runs of the same program differ:
  /// smaller differences are not significant.
  double floor = 0;
  /// The usual variance between runs of a side for values of this kind. 0: not known.
  double usual_variance = 0;

  bool is_single() const noexcept { return base.size() == 1 && fresh.size() == 1; }
};

enum class noise_source : std::uint8_t {
  none,          // too few repetitions
  repetitions,   // within the one run of each side, plus the floor
  student,       // Student's t-test on the values of runs
  mann_whitney,  // Mann-Whitney test, with the Hodges-Lehmann interval
};
std::string_view name_of(noise_source from) noexcept;

struct interval {
  double estimate = 0;  // logarithm of fresh / base
  double low = 0, high = 0;
  noise_source from = noise_source::none;
  bool is_known() const noexcept { return from != noise_source::none; }
  double half_width() const noexcept { return (high - low) / 2; }
  bool excludes_zero() const noexcept { return is_known() && (low > 0 || high < 0); }
};

/// Returns an interval that misses the true difference with probability `alpha`. Uses the
/// Mann-Whitney test if there are enough runs, else Student's t-test.
interval interval_of(observations const& of, double alpha);

/// Returns the variance between runs of a side, pooled over both sides. Nothing with one run per
/// side.
std::optional<double> variance_between_runs(observations const& of);

/// Returns the number of runs per side for which the half width would be at most `target`. 0: more
/// than a hundred.
std::size_t runs_needed(observations const& of, double alpha, double target);

/// Estimates the duration in one run and its error, from the repetitions.
struct estimate {
  double mean = 0;     // ns: the trimmed mean of blocks
  double error = 0;    // one standard error, as a share of the mean
  double freedom = 0;  // degrees of freedom; 0: too few repetitions
  /// As `error`, but only for changes from block to block, without slow drift. Used to compare
  /// kernels of the same run, which drift together.
  double fast_error = 0;
  bool is_known() const noexcept { return freedom > 0; }
};

/// Returns one standard error of what was taken from other launches, as a share of all. If it is
/// not known, all of that may be wrong.
double owed_share(duration_series const& durations);

/// Computes the mean without a tenth of the blocks at each end, and its error from the spread of
/// the clamped values (Yuen 1974). Successive values are similar (the GPU warms up), so the mean is
/// less certain than with independent values: uses the block length that gives the largest error
/// (Flyvbjerg and Petersen 1989).
estimate estimate_of(duration_series const& durations);

}  // namespace gpuprof::host::compare
