// SPDX-License-Identifier: Apache-2.0
// What CUPTI calls the chip of a GPU: the name its counters go by.
#pragma once

#include "guest/cupti/api.hpp"

#include <cstddef>
#include <string>

namespace gpuprof::guest {

/// "GH100"; empty when CUPTI does not say. `device` as CUDA counts; cuInit must have run.
std::string chip_name(cupti_api const& api, std::size_t device);

}  // namespace gpuprof::guest
