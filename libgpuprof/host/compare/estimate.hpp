// SPDX-License-Identifier: Apache-2.0
// What a duration is in one run, and how sure that is from its repetitions.
#pragma once

#include "host/compare/duration_series.hpp"

namespace gpuprof::host::compare {

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
