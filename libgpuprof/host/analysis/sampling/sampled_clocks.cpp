// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sampled_clocks.hpp"

#include "host/analysis/sampling/sample_sweep.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof {
namespace {

/// A mean weighted by time, and how far values lie from it.
struct weighted_values {
  std::uint64_t count = 0;
  double weight = 0, sum = 0, squares = 0;
  void add(double value, double ns) noexcept {
    ++count;
    weight += ns;
    auto const off = value - (weight > ns ? sum / (weight - ns) : value);
    sum += value * ns;
    squares += ns * off * (value - sum / weight);
  }
  double mean() const noexcept { return sum / weight; }
  double deviation() const noexcept { return std::sqrt(std::max(0.0, squares / weight)); }
};

}  // namespace

/// The spread of the values stands for the error: clocks change slower than samples come, so more
/// of them say no more.
void average_clocks(sample_series const& samples, device_work const& work, figure_grid& figures) {
  std::vector<std::uint32_t> columns;
  for (std::uint32_t c = 0; c < samples.columns(); ++c)
    if (samples.adds_up(c) && samples.metric(c).runs_when_idle) columns.push_back(c);
  auto const kinds = work.kinds();
  std::vector<std::vector<weighted_values>> values(columns.size(),
                                                   std::vector<weighted_values>(kinds.size()));
  sweep_samples(samples, work, [&](std::size_t s, std::span<work_part const> parts, double) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      auto const rate = samples.amount(s, columns[i]) / samples.intervals()[s].ns();
      if (std::isnan(rate)) continue;
      for (auto const& part : parts)
        if (part.ns > 0) values[i][part.item->kind].add(rate, part.ns);
    }
  });
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      auto const& of_kind = values[i][kind];
      if (of_kind.count < 2) continue;
      bool const is_amount = samples.metric(columns[i]).how == summing::amount;
      auto const scale = is_amount ? kinds[kind].mean_ns() : 1;
      auto const spread = of_kind.deviation() * scale;
      figures[kind][columns[i]] =
          sampled_figure{of_kind.mean() * scale, spread, kinds[kind].times, false, spread};
    }
}

}  // namespace gpuprof
