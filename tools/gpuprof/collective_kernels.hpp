// SPDX-License-Identifier: Apache-2.0
// Finds kernels that wait for other GPUs.
#pragma once

#include "host/reading/trace_contents.hpp"

#include <vector>

namespace gpuprof::host::command {

/// The result is indexed by shape_id.
std::vector<bool> find_collectives(trace_contents& trace);

}  // namespace gpuprof::host::command
