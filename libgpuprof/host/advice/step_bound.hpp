// SPDX-License-Identifier: Apache-2.0
// What a change saves at best, where a program needs two things: its GPU and the thread that
// launches.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <cstddef>
#include <vector>

namespace gpuprof::host::advice {

/// What a mend takes away, in nanoseconds of all steps; nothing: it only removes a wait.
struct step_change {
  double busy_ns = 0;   // GPU time
  double host_ns = 0;   // time of the launching thread
  double items = 0;     // pieces of GPU work, each of which costs a pause
  double other_ns = 0;  // a third thing that takes as long beside the two: a data loader of its own
};

/// Steps last as long as the longer of the two, if nothing makes one wait for the other:
/// P >= max(B + n x pause, C). All figures are sums over the steps and over the GPUs.
struct step_bound {
  double period_ns = 0;  // P
  double busy_ns = 0;    // B
  double host_ns = 0;    // C: outside of waiting calls; 0: not known
  double items = 0;      // n
  double pause_ns = 0;   // between two pieces of work that were both queued

  double gpu_ns() const noexcept { return busy_ns + items * pause_ns; }
  bool launches_hold() const noexcept { return host_ns > gpu_ns(); }
  /// What steps take beyond the longer of the two.
  double excess() const noexcept { return saved_by({}); }
  double saved_by(step_change const& change) const noexcept;
  /// `claimed`: what the mend removes, `sure`: of that, what is saved whatever else happens.
  time_gain gain(double claimed, double sure, step_change const& change = {}) const noexcept;
};

/// Without steps, or where they are less than half of the window, the window is one step.
step_bound bound_of(run_facts const& facts);

// Which steps take much longer than the others.

/// Those that take longer than 1.2 times the median, of the program and, where that is known, of
/// its GPUs: a thread may run ahead and be held up now and then, while the GPU's steps are even.
/// The first step warms up and is in nothing here.
struct slow_steps {
  double median_ns = 0, limit_ns = 0;  // 0: there are none
  double median_on_gpu_ns = 0;         // 0: not known
  std::vector<std::size_t> which;      // in order
};
slow_steps slow_steps_of(step_facts const& steps);

}  // namespace gpuprof::host::advice
