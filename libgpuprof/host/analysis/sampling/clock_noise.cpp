// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/clock_noise.hpp"

#include <algorithm>
#include <numbers>
#include <unordered_map>
#include <vector>

namespace gpuprof {
namespace {

constexpr double usual_noise_ns = 58;  // 100 / sqrt(3)
constexpr double max_gap_ns = 2000;    // longer ones wait for the program
constexpr std::uint64_t enough_gaps = 50;
// Of the pairs, those that vary least; the very least does so by chance.
constexpr std::size_t steadiest = 10;

}  // namespace

double clock_noise_of(device_work const& work) {
  std::unordered_map<std::uint64_t, running_mean> gaps;
  auto const items = work.items();
  for (std::size_t i = 0; i + 1 < items.size(); ++i) {
    auto const &before = items[i], &after = items[i + 1];
    if (!before.is_alone || !after.is_alone) continue;
    auto const gap = static_cast<double>(static_cast<std::int64_t>(after.start - before.end));
    if (gap <= max_gap_ns) gaps[std::uint64_t{before.kind} << 32 | after.kind].add(gap);
  }
  std::vector<double> deviations;
  for (auto const& [pair, of_pair] : gaps)
    if (of_pair.count() >= enough_gaps) deviations.push_back(of_pair.deviation());
  if (deviations.empty()) return usual_noise_ns;
  auto const found =
      deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / steadiest);
  std::nth_element(deviations.begin(), found, deviations.end());
  return std::min(usual_noise_ns, *found / std::numbers::sqrt2);
}

}  // namespace gpuprof
