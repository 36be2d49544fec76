// SPDX-License-Identifier: Apache-2.0
// What to know about figures of a GPU that is shared on purpose, through MPS or as a MIG slice.
#pragma once

#include "guest/driver/device_facts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest::peaks {

/// Empty when no MPS daemon has its control pipe in this folder. `thread_percentage` is what
/// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE says, or empty.
std::optional<std::string> mps_remark(std::string const& pipe_folder,
                                      std::string const& thread_percentage);

/// Empty for a whole GPU.
std::optional<std::string> mig_remark(device_facts const& device);

/// Both, for this process: one line each.
std::vector<std::string> sharing_remarks(device_facts const& device);

}  // namespace gpuprof::guest::peaks
