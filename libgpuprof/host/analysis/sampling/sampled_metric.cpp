// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sampled_metric.hpp"

namespace gpuprof::host {
namespace {

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

/// Whether the name is of an average or a sum, and ends so: sums of instances add up, extremes of
/// them do not.
bool ends_additive(std::string_view name, std::string_view end) noexcept {
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  return name.ends_with(".sum") || name.ends_with(".avg");
}

summing summing_of(std::string_view name) noexcept {
  // The highest of several counters, which may be another one in each interval.
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
