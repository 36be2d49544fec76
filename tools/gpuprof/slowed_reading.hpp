// SPDX-License-Identifier: Apache-2.0
// Finds the launches of a capture that reading counters has slowed down.
#pragma once

#include "analyse/slowed_launches.hpp"
#include "trace/trace_contents.hpp"

namespace gpuprof {

/// Goes over the kernels only where there are any.
slowed_launches read_slowed_launches(trace_contents& trace);

}  // namespace gpuprof
