// SPDX-License-Identifier: Apache-2.0
// What a session needs before it can be played: known records, and the fake driver.
#pragma once

#include "replay/player/performance.hpp"

namespace gpuprof::replay {

/// False if the session holds activity records of a kind that cannot be played.
bool all_kinds_known(recording const& r);

/// Loads the fake driver as a CUDA program loads the real one, and calls cuInit. Ends the process
/// with a line on stderr and exit status 2 if it cannot be used.
performance::driver start_driver();

}  // namespace gpuprof::replay
