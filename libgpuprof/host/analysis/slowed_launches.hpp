// SPDX-License-Identifier: Apache-2.0
// Launches that took longer because counters were read, and the launches outside of CUDA graphs
// that stand for kernels inside of them.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "host/analysis/workload_times.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// In sums, extremes and percentiles the mean of the launches of the same shape around which
/// nothing was read stands for them. A launch whose kernel was rewritten to count is always slowed.
/// Another one that was read is, if it took longer than each of many launches that were not:
/// counters are set up around it, and it may wait for that on the GPU. So is one that ran while the
/// counters of its GPU were taken or released, if it took longer than each of at least as many
/// others: hardly any kernel of that time is slowed. Launches whose arguments were not looked at,
/// because counters were not set up yet, count with those of the same kernel and grid if all of
/// these have the same arguments. Feed metrics, samples, pauses and shapes, then all kernels with
/// see(); then ask.
class slowed_launches {
 public:
  void define(metric_record const& metric, std::string_view name) {
    readings_.define(metric, name);
  }
  void add(read_launch_record const& sample) {
    readings_.add(sample);
    any_ = true;
  }
  void add(pause_record const& pause) {
    pauses_.push_back(pause);
    any_ = true;
  }
  void define(kernel_shape const& shape);
  /// If this is false, shapes need not be defined and kernels need not be seen.
  bool any() const noexcept { return any_; }
  void see(kernel_record const& kernel);
  /// False: undisturbed() will say nothing of this kernel, whatever is seen later.
  bool may_be_slowed(kernel_record const& kernel) const noexcept {
    return any_ &&
           (readings_.sampling_of(kernel.correlation) != sampling::none || ran_in_pause(kernel));
  }

  /// Nothing: the kernel was not slowed, or none of its shape ran undisturbed. It looks at the
  /// correlation, shape, device, start and duration.
  std::optional<duration_ns> undisturbed(kernel_record const& kernel) const;

 private:
  /// So many undisturbed launches, for each that was read, tell how long one takes at most.
  static constexpr std::uint64_t many = 4;

  struct total {
    std::uint64_t ns = 0, launches = 0, longest_ns = 0;  // of those that nothing disturbed
    std::uint64_t read = 0, in_pause = 0;                // launches
  };
  /// All shapes that differ in their arguments only.
  struct variants {
    shape_id arguments_known{};
    bool several = false;  // with known arguments
  };
  static bool tells_longest(total const& of, sampling how) noexcept {
    return how == sampling::none ? of.launches >= std::max(of.in_pause, many)
                                 : of.launches >= many * of.read;
  }
  bool ran_in_pause(kernel_record const& kernel) const noexcept;
  /// Launches of two shapes do the same work where this is the same for both.
  shape_id work_of(shape_id shape) const;

  launch_metrics readings_;
  std::vector<pause_record> pauses_;  // few: a program has one in some seconds
  std::unordered_map<std::uint32_t, total> by_work_;
  std::map<kernel_shape, variants> variants_;                             // by without_arguments()
  std::unordered_map<std::uint32_t, variants const*> without_arguments_;  // by shape_id
  bool any_ = false;
};

// Finds for kernels of CUDA graphs the same launches outside of graphs.

/// Shapes for which this is equal differ in their ids and arguments only.
kernel_shape without_arguments(kernel_shape shape);

/// Launches of one kernel in one geometry are told apart by their arguments, but of kernels in
/// graphs these are not known. Where such a kernel had the same arguments in all launches outside,
/// and takes as long inside, it is taken to have them inside, too: programs warm up with what they
/// capture. By workload inside; `times` is complete.
std::map<workload_id, workload_id> counted_outside(workload_times const& times,
                                                   std::span<kernel_shape const> shapes);

}  // namespace gpuprof::host
