// SPDX-License-Identifier: Apache-2.0
// The shift between two small samples by ranks: Mann and Whitney's test turned into an interval.
#pragma once

#include <optional>
#include <span>

namespace gpuprof::compare {

struct shift {
  double estimate = 0, low = 0, high = 0;
};

/// The median of all pairwise differences (Hodges and Lehmann 1963), and the differences between
/// which the true shift lies but for `alpha`. Exact, whatever the distribution, as long as both
/// have the same. Nothing where so few values cannot show it.
std::optional<shift> rank_interval(std::span<double const> base, std::span<double const> fresh,
                                   double alpha);

}  // namespace gpuprof::compare
