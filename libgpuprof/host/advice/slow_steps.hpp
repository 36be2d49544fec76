// SPDX-License-Identifier: Apache-2.0
// Which steps take much longer than the others.
#pragma once

#include "host/advice/facts.hpp"

#include <cstddef>
#include <vector>

namespace gpuprof::host::advice {

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
