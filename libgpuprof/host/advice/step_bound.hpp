// SPDX-License-Identifier: Apache-2.0
// Computes the most that a change can save in a program that needs both its GPU and the launching
// thread.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <cstddef>
#include <vector>

namespace gpuprof::host::advice {

/// The time that a fix removes, in nanoseconds over all steps. All 0: it only removes a wait.
struct step_change {
  double busy_ns = 0;  // GPU time
  double host_ns = 0;  // time of the launching thread
  double items = 0;    // pieces of GPU work, each of which costs a pause
  // a third resource that works in parallel for this long, such as a data loader
  double other_ns = 0;
};

/// A step takes as long as the slower of GPU and launching thread, if neither waits for the other:
/// P >= max(B + n x pause, C). All members are sums over the steps and over the GPUs.
struct step_bound {
  double period_ns = 0;      // P
  double busy_ns = 0;        // B
  double host_ns = 0;        // C: outside of waiting calls; 0: not known
  double items = 0;          // n
  double pause_ns = 0;       // between two pieces of work that were both queued
  bool is_of_steps = false;  // not of the whole window, which then counts as one step

  double gpu_ns() const noexcept { return busy_ns + items * pause_ns; }
  bool launches_hold() const noexcept { return host_ns > gpu_ns(); }
  /// The time that steps take beyond the slower of GPU and launching thread.
  double excess() const noexcept { return saved_by({}); }
  double saved_by(step_change const& change) const noexcept;
  /// `claimed`: what the fix removes. `sure`: the part of it that is saved in any case.
  time_gain gain(double claimed, double sure, step_change const& change = {}) const noexcept;
};

/// Without steps, or if they cover less than half of the window, the window counts as one step.
step_bound bound_of(run_facts const& facts);

// Finds steps that take much longer than the others.

/// Steps longer than 1.2 times the median, measured on the program and, if known, also on its GPUs:
/// a thread may run ahead and be held up sometimes while the GPU's steps are even. The first step
/// is warm-up and never included.
struct slow_steps {
  double median_ns = 0, limit_ns = 0;  // 0: no steps
  double median_on_gpu_ns = 0;         // 0: not known
  std::vector<std::size_t> which;      // in order
};
slow_steps slow_steps_of(step_facts const& steps);

}  // namespace gpuprof::host::advice
