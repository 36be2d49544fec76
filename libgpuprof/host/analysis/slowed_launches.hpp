// SPDX-License-Identifier: Apache-2.0
// Finds launches that took longer because counters were read, and launches outside of CUDA graphs
// that match kernels in graphs.
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

/// Reports replace the duration of a slowed launch by the mean of undisturbed launches of the same
/// shape. Slowed are: every launch whose kernel was rewritten to count; a launch that was read, if
/// it took longer than each of many launches that were not, because it may wait on the GPU for the
/// counter setup; and a launch during the setup or release of its GPU's counters, if it took longer
/// than each of at least as many others, because hardly any kernel is slowed then. Launches without
/// recorded arguments, from before the setup, count with those of the same kernel and grid if all
/// of these have the same arguments. The caller must add metrics, samples, pauses and shapes, then
/// all kernels with see(), and can then ask.
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
  /// If this returns false, the caller can skip defining shapes and seeing kernels.
  bool any() const noexcept { return any_; }
  void see(kernel_record const& kernel);
  /// If this returns false, undisturbed() returns nothing for this kernel, whatever is seen later.
  bool may_be_slowed(kernel_record const& kernel) const noexcept {
    return any_ &&
           (readings_.sampling_of(kernel.correlation) != sampling::none || ran_in_pause(kernel));
  }

  /// Returns nothing if the kernel was not slowed, or if no launch of its shape ran undisturbed.
  /// Uses the correlation, shape, device, start and duration.
  std::optional<duration_ns> undisturbed(kernel_record const& kernel) const;

 private:
  /// The longest undisturbed launch is used as a limit if there are this many undisturbed launches
  /// per read one.
  static constexpr std::uint64_t many = 4;

  struct total {
    std::uint64_t ns = 0, launches = 0, longest_ns = 0;  // of undisturbed launches
    std::uint64_t read = 0, in_pause = 0;                // launches
  };
  /// All shapes that differ only in their arguments.
  struct variants {
    shape_id arguments_known{};
    bool several = false;  // several variants with known arguments
  };
  static bool tells_longest(total const& of, sampling how) noexcept {
    return how == sampling::none ? of.launches >= std::max(of.in_pause, many)
                                 : of.launches >= many * of.read;
  }
  bool ran_in_pause(kernel_record const& kernel) const noexcept;
  /// Returns the same id for shapes whose launches do the same work.
  shape_id work_of(shape_id shape) const;

  launch_metrics readings_;
  std::vector<pause_record> pauses_;  // short list: one every few seconds
  std::unordered_map<std::uint32_t, total> by_work_;
  std::map<kernel_shape, variants> variants_;                             // by without_arguments()
  std::unordered_map<std::uint32_t, variants const*> without_arguments_;  // by shape_id
  bool any_ = false;
};

// Finds launches outside of CUDA graphs that match kernels in graphs.

/// Clears id and arguments: results are equal for shapes that differ only in these.
kernel_shape without_arguments(kernel_shape shape);

/// Maps workloads in graphs to the same workloads outside. The arguments of kernels in graphs are
/// not known. If all launches of such a kernel outside of graphs had the same arguments and take as
/// long, the kernel is assumed to have these arguments in the graph too, because programs warm up
/// with what they capture. `times` must be complete.
std::map<workload_id, workload_id> counted_outside(workload_times const& times,
                                                   std::span<kernel_shape const> shapes);

}  // namespace gpuprof::host
