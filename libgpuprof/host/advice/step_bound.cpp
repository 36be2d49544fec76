// SPDX-License-Identifier: Apache-2.0
#include "host/advice/step_bound.hpp"

#include <algorithm>
#include <numeric>

namespace gpuprof::host::advice {

double step_bound::saved_by(step_change const& change) const noexcept {
  auto const gpu = busy_ns - change.busy_ns + std::max(0.0, items - change.items) * pause_ns;
  auto const host = host_ns - change.host_ns;
  return std::max(0.0, period_ns - std::max({gpu, host, change.other_ns}));
}

time_gain step_bound::gain(double claimed, double sure, step_change const& change) const noexcept {
  auto const low = std::clamp(sure, 0.0, std::max(0.0, claimed));
  return {low, std::max(low, std::min(claimed, saved_by(change)))};
}

step_bound bound_of(run_facts const& facts) {
  auto const& steps = facts.steps;
  auto const gpus = static_cast<double>(facts.devices.size());
  step_bound bound;
  bound.pause_ns = facts.run.back_to_back;
  auto const in_steps = gpus * std::accumulate(steps.period_ns.begin(), steps.period_ns.end(), 0.0);
  auto const window = facts.all_windows_ns();
  auto const is_one_step = in_steps < window / 2;
  bound.is_of_steps = !is_one_step;
  if (is_one_step) {
    bucket_times ledger;
    for (auto const& device : facts.devices) ledger += device.ledger;
    bound.period_ns = window;
    bound.busy_ns = ledger.busy();
  } else {
    bound.period_ns = in_steps;
    bound.busy_ns = steps.busy_ns;
  }
  // Steps that cover little of the window say nothing about the rest of it.
  if (is_one_step && !steps.period_ns.empty()) return bound;
  bound.host_ns = gpus * steps.launching_thread_ns;
  bound.items = static_cast<double>(steps.items);
  return bound;
}

namespace {

constexpr double slow = 1.2;  // times the median

/// The median without the first step. 0: only one step or none.
double median_of(std::vector<double> const& steps) {
  if (steps.size() < 2) return 0;
  std::vector<double> steady(steps.begin() + 1, steps.end());
  auto const middle = steady.begin() + static_cast<std::ptrdiff_t>(steady.size() / 2);
  std::nth_element(steady.begin(), middle, steady.end());
  return *middle;
}

}  // namespace

slow_steps slow_steps_of(step_facts const& steps) {
  slow_steps found;
  found.median_ns = median_of(steps.period_ns);
  found.limit_ns = slow * found.median_ns;
  found.median_on_gpu_ns = median_of(steps.gpu_ns);
  if (found.median_ns <= 0) return found;
  auto const is_slow_on_gpu = [&](std::size_t i) {
    if (found.median_on_gpu_ns <= 0) return true;
    return i < steps.gpu_ns.size() && steps.gpu_ns[i] > slow * found.median_on_gpu_ns;
  };
  for (std::size_t i = 1; i < steps.period_ns.size(); ++i)
    if (steps.period_ns[i] > found.limit_ns && is_slow_on_gpu(i)) found.which.push_back(i);
  return found;
}

}  // namespace gpuprof::host::advice
