// SPDX-License-Identifier: Apache-2.0
// Launches that took longer because they were read: their kernel was rewritten to count.
#pragma once

#include "analyse/launch_metrics.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace gpuprof {

/// In sums the mean of the launches of the same shape around which nothing was read stands for
/// them. Feed metrics and samples, then all kernels with see(); then ask.
class slowed_launches {
 public:
  void define(metric_record const& metric, std::string_view name) {
    readings_.define(metric, name);
    any_can_be_ = any_can_be_ || metric.patches_kernel;
  }
  void add(sampled_launch_record const& sample) {
    readings_.add(sample);
    any_ = any_ || (any_can_be_ && readings_.sampling_of(sample.correlation) == sampling::slowed);
  }
  /// Kernels need not be seen otherwise.
  bool any() const noexcept { return any_; }
  void see(kernel_record const& kernel);

  /// Nothing: the kernel was not slowed, or none of its shape ran undisturbed.
  std::optional<duration_ns> undisturbed(kernel_record const& kernel) const;

 private:
  struct total {
    std::uint64_t ns = 0, launches = 0;
  };
  launch_metrics readings_;
  std::unordered_map<std::uint32_t, total> by_shape_;
  bool any_can_be_ = false, any_ = false;
};

}  // namespace gpuprof
