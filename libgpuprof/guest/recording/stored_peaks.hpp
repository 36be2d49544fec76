// SPDX-License-Identifier: Apache-2.0
// What is stored of the peaks of this process's GPUs, as rows of a capture.
#pragma once

#include "guest/driver/device_facts.hpp"
#include "guest/driver/nvml.hpp"
#include "model/records.hpp"

#include <vector>

namespace gpuprof {

/// Only what was measured. A store that cannot be read is one line at level info. Reads files and
/// asks NVML, milliseconds for each GPU; runs nothing on them. `library` is null without NVML.
std::vector<peak_record> stored_peaks(driver_facts const& driver, nvml const* library) noexcept;

}  // namespace gpuprof
