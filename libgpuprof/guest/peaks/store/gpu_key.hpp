// SPDX-License-Identifier: Apache-2.0
// Determines from a GPU's facts which stored peaks are valid for it, and the data for the theory.
#pragma once

#include "guest/driver/device_facts.hpp"
#include "guest/driver/nvml.hpp"
#include "guest/peaks/theory/theory.hpp"
#include "model/peaks.hpp"

#include <string_view>

namespace gpuprof::guest::peaks {

/// `kernels`: the hash of the built-in kernels and methods. `more` is empty without NVML.
peaks_key make_key(driver_facts const& driver, device_facts const& device, nvml_facts const& more,
                   std::string_view kernels);

chip_facts chip_facts_of(device_facts const& device, nvml_facts const& more);

}  // namespace gpuprof::guest::peaks
