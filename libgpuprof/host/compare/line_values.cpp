// SPDX-License-Identifier: Apache-2.0
#include "host/compare/line_values.hpp"

#include "host/compare/estimate.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host::compare {
namespace {

constexpr double unsure_clock = 0.05;  // with a greater error it explains nothing

/// What holds a kernel may be not known because nobody counted its operations, although it is known
/// that DRAM does not: all the rest of the GPU follows the clock.
bool is_held_by_the_gpu(kernel_line const& line) {
  if (line.bound.what != bound_by::kind::unknown) return true;
  return line.dram_share && *line.dram_share < latency_bound_below;
}

/// DRAM has a clock of its own, which does not change with the load.
std::optional<double> clock_that_matters(kernel_line const& line) {
  if (line.bound.what == bound_by::kind::dram) return 1;
  if (!is_held_by_the_gpu(line) || !line.clock || *line.clock <= 0) return std::nullopt;
  if (line.clock_error.value_or(0) > unsure_clock * *line.clock) return std::nullopt;
  return line.clock;
}

void take_figures(line_value& to, kernel_line const& line) {
  to.clock = clock_that_matters(line);
  if (to.clock && to.clock == line.clock) to.clock_error = line.clock_error.value_or(0) / *to.clock;
  to.of_roof = line.of_roof;
  to.dram_rate = line.dram_rate;
  to.flops = line.flops;
}

std::optional<double> mean_of(std::span<line_value const> values,
                              std::optional<double> line_value::*figure) {
  double sum = 0;
  for (auto const& value : values) {
    if (!(value.*figure)) return std::nullopt;
    sum += *(value.*figure);
  }
  return values.empty() ? std::nullopt : std::optional(sum / static_cast<double>(values.size()));
}

}  // namespace

line_value value_of(duration_series const& durations) {
  auto const found = estimate_of(durations);
  line_value value;
  value.launches = static_cast<double>(durations.count());
  value.total_ns = durations.total();
  value.call_ns = found.mean;
  value.error = found.error;
  value.fast_error = found.fast_error;
  value.freedom = found.freedom;
  return value;
}

line_value value_of(run_digest const& run, std::span<kernel_key const> keys, double parts) {
  line_value all;
  double robust_ns = 0, variance = 0, fast_variance = 0;
  all.freedom = 1e9;
  for (auto const& key : keys) {
    auto const found = run.kernels.find(key);
    if (found == run.kernels.end()) continue;
    auto const one = value_of(found->second.durations);
    all.launches += one.launches;
    all.total_ns += one.total_ns;
    robust_ns += one.launches * one.call_ns;
    variance += std::pow(one.launches * one.call_ns * one.error, 2);
    fast_variance += std::pow(one.launches * one.call_ns * one.fast_error, 2);
    all.freedom = std::min(all.freedom, one.freedom);
    if (keys.size() == 1) take_figures(all, found->second);
  }
  all.launches /= parts;
  if (all.launches <= 0 || robust_ns <= 0) return {};
  all.call_ns = robust_ns / all.launches;
  all.error = std::sqrt(variance) / robust_ns;
  all.fast_error = std::sqrt(fast_variance) / robust_ns;
  return all;
}

double steps_of(run_digest const& run, bool by_step) {
  return by_step && run.step && run.step->count > 0 ? static_cast<double>(run.step->count) : 1;
}

amount amount_of(std::span<run_digest const> side, std::span<line_value const> values,
                 bool by_step) {
  amount of;
  double share = 1 / static_cast<double>(side.size());
  double calls_ns = 0, present = 0;
  for (std::size_t i = 0; i < side.size(); ++i) {
    auto const steps = steps_of(side[i], by_step);
    of.calls += share * values[i].launches / steps;
    of.total_ns += share * values[i].total_ns / steps;
    if (values[i].launches <= 0) continue;
    calls_ns += values[i].call_ns;
    ++present;
  }
  if (present > 0) of.call_ns = calls_ns / present;
  of.of_roof = mean_of(values, &line_value::of_roof);
  of.dram_rate = mean_of(values, &line_value::dram_rate);
  of.flops = mean_of(values, &line_value::flops);
  return of;
}

bool are_known(std::span<line_value const> values) {
  return std::all_of(values.begin(), values.end(), [](line_value const& value) {
    return value.freedom > 0 && value.call_ns > 0;
  });
}

}  // namespace gpuprof::host::compare
