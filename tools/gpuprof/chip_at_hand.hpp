// SPDX-License-Identifier: Apache-2.0
// Says which chip the GPU of this machine is, and whether it has the metrics that a user names.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

/// Of GPU 0, as CUPTI names it ("GH100"). Asked in a child process; makes no context.
result<std::string> chip_at_hand();

// Whether the metrics that a user names exist, found out before the program starts.

/// One line for the first that the chip of this machine does not have, with the nearest that it
/// has. Empty: all exist, they are names of sets, or there is no GPU or no libcupti to ask: then
/// the run says what it finds.
std::string unknown_metric(std::vector<std::string> const& words);

}  // namespace gpuprof::host::command
