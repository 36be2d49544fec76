// SPDX-License-Identifier: Apache-2.0
#include "guest/nvtx/steps.hpp"

#include "guest/nvtx/ranges.hpp"

namespace gpuprof::guest {

void end_step(thread_log& log) noexcept {
  if (log.steps > 0) pop_range(log, log.names.intern(own_domain));
}

// What is innermost now may lie in the step that has just ended: a step in it would lie in that
// step, and so on, one in another for as long as the program runs.
void begin_step(thread_log& log) noexcept {
  auto const is_first = log.steps++ == 0;
  if (is_first) log.around_steps = log.ranges.innermost();
  if (!log.ranges.holds(log.around_steps)) log.around_steps = {};
  push_range(log,
             {.name = log.names.intern(own_step),
              .domain = log.names.intern(own_domain),
              .payload = payload_kind::unsigned64,
              .payload_bits = log.steps},
             log.around_steps);
}

}  // namespace gpuprof::guest
