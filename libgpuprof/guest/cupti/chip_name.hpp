// SPDX-License-Identifier: Apache-2.0
// CUPTI's name for the chip of a GPU, which its counters are listed under.
#pragma once

#include "guest/cupti/api.hpp"

#include <cstddef>
#include <string>

namespace gpuprof::guest {

/// Returns for example "GH100", or an empty string if CUPTI cannot tell. `device`: CUDA's ordinal;
/// cuInit must have run.
std::string chip_name(cupti_api const& api, std::size_t device);

}  // namespace gpuprof::guest
