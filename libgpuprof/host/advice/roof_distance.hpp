// SPDX-License-Identifier: Apache-2.0
// How close the kernels of a run are to the measured roofs of their GPUs.
#pragma once

#include "host/advice/facts.hpp"

#include <optional>

namespace gpuprof::host::advice {

struct roof_distance {
  double share = 0;        // of each kernel's highest roof, mean by time
  double known_share = 0;  // of the time of kernels: it is known for these
  bound_by bound;          // of most of this time
};

/// Nothing where it is not known for any kernel.
std::optional<roof_distance> roof_distance_of(run_facts const& facts);

}  // namespace gpuprof::host::advice
