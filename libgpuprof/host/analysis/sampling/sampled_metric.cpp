// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sampled_metric.hpp"

namespace gpuprof::host {
namespace {

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

/// True for averages and sums with this suffix: sums over instances add up, extremes do not.
bool ends_additive(std::string_view name, std::string_view end) noexcept {
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  return name.ends_with(".sum") || name.ends_with(".avg");
}

summing summing_of(std::string_view name) noexcept {
  // A throughput is the highest of several counters, possibly a different one in each interval.
  if (contains(name, "throughput")) return summing::never;
  if (ends_additive(name, "")) return summing::amount;
  if (ends_additive(name, ".per_second")) return summing::over_time;
  if (ends_additive(name, ".pct_of_peak_sustained_elapsed")) return summing::over_time;
  if (ends_additive(name, ".pct_of_peak_sustained_active") && name.starts_with("sm__"))
    return summing::over_active_cycles;
  return summing::never;
}

}  // namespace

sampled_metric sampled_metric_of(std::string_view name) noexcept {
  return {summing_of(name), contains(name, "cycles_elapsed"), contains(name, "pipe_tensor")};
}

}  // namespace gpuprof::host
