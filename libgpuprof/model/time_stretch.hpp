// SPDX-License-Identifier: Apache-2.0
// A part of a trace.
#pragma once

#include "base/time.hpp"

#include <cstdint>

namespace gpuprof {

/// Moments of the trace's clock, from `begin` until before `end`.
struct time_stretch {
  timestamp_ns begin{0};
  timestamp_ns end{~std::uint64_t{0}};
};

}  // namespace gpuprof
