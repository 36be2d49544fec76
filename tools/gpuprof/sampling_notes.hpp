// SPDX-License-Identifier: Apache-2.0
// What a reader must know about figures that are from samples in time.
#pragma once

#include "host/reading/roofline_reading.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

/// Lost samples first; empty when the GPU was not sampled.
std::vector<std::string> sampling_notes(roofline_reading const& read);

}  // namespace gpuprof::host::command
