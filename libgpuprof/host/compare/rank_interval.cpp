// SPDX-License-Identifier: Apache-2.0
#include "host/compare/rank_interval.hpp"

#include "host/compare/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gpuprof::compare {
namespace {

/// P(U = u) without ties: the n-th value of the second sample has above it any of 0 to m of the
/// first, never fewer than the one before.
std::vector<double> distribution_of_u(std::size_t m, std::size_t n) {
  std::vector<double> counts(m * n + 1);
  counts[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {  // times (1 - q^(m+i)) / (1 - q^i)
    for (auto u = counts.size(); u-- > m + i;) counts[u] -= counts[u - m - i];
    for (auto u = i; u < counts.size(); ++u) counts[u] += counts[u - i];
  }
  double all = 0;
  for (auto const count : counts) all += count;
  for (auto& count : counts) count /= all;
  return counts;
}

constexpr std::size_t max_exact = 25;  // beyond it counts no longer fit a double exactly

/// Of the sorted differences, how many are outside at either end.
std::size_t differences_outside(std::size_t m, std::size_t n, double alpha) {
  if (std::max(m, n) > max_exact) {
    auto const pairs = static_cast<double>(m * n);
    auto const deviation = std::sqrt(pairs * static_cast<double>(m + n + 1) / 12);
    return static_cast<std::size_t>(
        std::max(0.0, pairs / 2 + normal_quantile(alpha / 2) * deviation));
  }
  auto const probabilities = distribution_of_u(m, n);
  std::size_t outside = 0;
  for (double below = probabilities[0]; below <= alpha / 2; below += probabilities[outside])
    ++outside;
  return outside;
}

}  // namespace

std::optional<shift> rank_interval(std::span<double const> base, std::span<double const> fresh,
                                   double alpha) {
  if (base.empty() || fresh.empty()) return std::nullopt;
  auto const m = base.size(), n = fresh.size();
  auto const outside = differences_outside(m, n, alpha);
  if (outside == 0) return std::nullopt;
  std::vector<double> differences;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) differences.push_back(fresh[j] - base[i]);
  std::sort(differences.begin(), differences.end());
  auto const pairs = differences.size();
  return shift{(differences[pairs / 2] + differences[(pairs - 1) / 2]) / 2,
               differences[outside - 1], differences[pairs - outside]};
}

}  // namespace gpuprof::compare
