// SPDX-License-Identifier: Apache-2.0
// Says if steps launch the same work in the same order, so that a graph could launch it.
#pragma once

#include "host/replay/step_graph.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gpuprof::host::replay {

struct repeated_steps {
  double share = 0;                  // of the steps launch exactly this sequence
  std::size_t launches = 0;          // of the sequence
  std::vector<std::string> kernels;  // the first few of it
};

/// The sequence of the thread of the steps that most steps have. Work is compared by its name.
repeated_steps repeated_steps_of(step_graph const& graph);

}  // namespace gpuprof::host::replay
