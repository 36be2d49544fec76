// SPDX-License-Identifier: Apache-2.0
#include "host/advice/slow_steps.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr double slow = 1.2;  // times the median

/// Without the first; 0: there are no others.
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
