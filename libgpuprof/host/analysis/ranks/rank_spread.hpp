// SPDX-License-Identifier: Apache-2.0
// How far a figure differs between the ranks of a job.
#pragma once

#include <cstddef>
#include <span>

namespace gpuprof::host {

struct rank_value {
  std::size_t rank = 0;  // as the caller counts them
  double value = 0;
};

struct rank_spread {
  std::size_t ranks = 0;  // that have a value
  double minimum = 0, median = 0, maximum = 0;
  std::size_t greatest = 0;  // the rank of the maximum; the first of several

  /// (maximum - minimum) / median; 0 where the median is.
  double share() const noexcept { return median > 0 ? (maximum - minimum) / median : 0; }
};

/// All zero for no value.
rank_spread spread_of(std::span<rank_value const> values);

}  // namespace gpuprof::host
