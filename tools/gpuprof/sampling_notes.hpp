// SPDX-License-Identifier: Apache-2.0
// Notes for readers of values that come from samples in time.
#pragma once

#include "host/reading/roofline_reading.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

/// Lost samples come first. Empty if the GPU was not sampled.
std::vector<std::string> sampling_notes(roofline_reading const& read);

}  // namespace gpuprof::host::command
