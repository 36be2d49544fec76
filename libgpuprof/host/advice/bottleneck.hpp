// SPDX-License-Identifier: Apache-2.0
// What a program waits for, from the ledger of its GPUs.
#pragma once

#include "host/advice/facts.hpp"

namespace gpuprof::host::advice {

/// What the program waits for.
struct bottleneck {
  time_bucket bucket{};        // with the most time
  double share = 0;            // of the windows of all GPUs
  bool launches_hold = false;  // the launching thread is slower than the GPU
  std::string sentence;        // "The GPU is busy 93 % of the time: kernels hold the program."
};

bottleneck bottleneck_of(run_facts const& facts);

}  // namespace gpuprof::host::advice
