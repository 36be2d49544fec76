// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/sample_sweep.hpp"

#include <cmath>
#include <vector>

namespace gpuprof::host {
namespace {

constexpr std::size_t fewest_samples = 50;

/// Returns the column of clock cycles per second, which run with or without work, or columns() if
/// there is none.
std::uint32_t clock_column(sample_series const& samples) {
  std::uint32_t column = 0;
  auto const is_clock = [&] {
    auto const& metric = samples.metric(column);
    return metric.runs_when_idle && metric.how == summing::over_time;
  };
  while (column < samples.columns() && !is_clock()) ++column;
  return column;
}

}  // namespace

std::optional<double> unseen_activity(sample_series const& samples, device_work const& work) {
  auto const clock = clock_column(samples);
  if (clock == samples.columns()) return std::nullopt;
  std::vector<bool> is_idle(samples.size());
  sweep_samples(samples, work, [&](std::size_t i, std::span<work_part const> parts, double) {
    is_idle[i] = parts.empty();
  });
  double active = 0, elapsed = 0;
  std::size_t used = 0;
  for (std::size_t i = 1; i + 1 < samples.size(); ++i) {
    if (!is_idle[i - 1] || !is_idle[i] || !is_idle[i + 1] || !samples.are_joined(i - 1, i + 1))
      continue;
    auto const mine = samples.active_cycles(i);
    auto const all = samples.amount(i, clock) * 1e-9;  // a rate per second, times nanoseconds
    if (!std::isfinite(mine) || !(all > 0)) continue;
    active += mine;
    elapsed += all;
    ++used;
  }
  if (used < fewest_samples) return std::nullopt;
  return active / elapsed;
}

}  // namespace gpuprof::host
