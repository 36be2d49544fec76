// SPDX-License-Identifier: Apache-2.0
#include "host/compare/estimate.hpp"

#include "host/compare/interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpuprof::host::compare {
namespace {

constexpr double trimmed_share = 0.1;  // at either end
constexpr std::size_t least_blocks = 16;

/// In the order they came; `values` are pulled in to the limits of what is kept.
double trimmed_mean(std::vector<double>& values) {
  auto const n = values.size();
  auto const cut = static_cast<std::size_t>(trimmed_share * static_cast<double>(n));
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (std::size_t i = cut; i < n - cut; ++i) sum += sorted[i];
  for (auto& value : values) value = std::clamp(value, sorted[cut], sorted[n - 1 - cut]);
  return sum / static_cast<double>(n - 2 * cut);
}

/// One standard error of the mean of these.
double error_of(std::vector<double> const& values) {
  double sum = 0, squares = 0;
  for (auto const value : values) sum += value;
  auto const n = static_cast<double>(values.size());
  for (auto const value : values) squares += (value - sum / n) * (value - sum / n);
  return std::sqrt(squares / (n * (n - 1)));
}

void halve(std::vector<double>& blocks) {
  auto const half = blocks.size() / 2;
  for (std::size_t i = 0; i < half; ++i) blocks[i] = (blocks[2 * i] + blocks[2 * i + 1]) / 2;
  blocks.resize(half);
}

}  // namespace

estimate estimate_of(duration_series const& durations) {
  auto blocks = durations.blocks();
  if (blocks.size() < least_repetitions) return {durations.mean(), 0, 0, 0};
  estimate found;
  found.mean = trimmed_mean(blocks);
  if (found.mean <= 0) return {durations.mean(), 0, 0, 0};
  // Pulling in lessens the spread by as much as it leaves out.
  auto const kept = blocks.size() >= 1 / trimmed_share ? 1 - 2 * trimmed_share : 1;
  auto const scale = 1 / (kept * found.mean);
  found.fast_error = found.error = scale * error_of(blocks);
  found.freedom = kept * static_cast<double>(blocks.size()) - 1;
  constexpr double usual = 0.05;
  auto widest = found.error * student_two_sided(usual, found.freedom);
  for (halve(blocks); blocks.size() >= least_blocks; halve(blocks)) {
    auto const error = scale * error_of(blocks);
    auto const freedom = static_cast<double>(blocks.size()) - 1;
    auto const width = error * student_two_sided(usual, freedom);
    if (width <= widest) continue;
    widest = width;
    found.error = error;
    found.freedom = freedom;
  }
  return found;
}

}  // namespace gpuprof::host::compare
