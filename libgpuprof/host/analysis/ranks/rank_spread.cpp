// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/ranks/rank_spread.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof::host {

rank_spread spread_of(std::span<rank_value const> values) {
  rank_spread spread;
  if (values.empty()) return spread;
  std::vector<double> sorted;
  sorted.reserve(values.size());
  for (auto const& [rank, value] : values) {
    if (sorted.empty() || value > spread.maximum) {
      spread.maximum = value;
      spread.greatest = rank;
    }
    sorted.push_back(value);
  }
  std::sort(sorted.begin(), sorted.end());
  auto const middle = sorted.size() / 2;
  spread.ranks = sorted.size();
  spread.minimum = sorted.front();
  spread.median =
      sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return spread;
}

}  // namespace gpuprof::host
