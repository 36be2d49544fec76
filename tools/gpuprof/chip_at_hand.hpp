// SPDX-License-Identifier: Apache-2.0
// Finds the chip of this machine's GPU, and checks that it has the metrics named by the user.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

/// Returns the chip of GPU 0 by CUPTI's name ("GH100"). Asks in a child process; creates no
/// context.
result<std::string> chip_at_hand();

// Checks before the program starts that the metrics named by the user exist.

/// Returns one line for the first metric that the chip of this machine lacks, with the nearest
/// existing name. Empty if all exist or are names of sets, or if there is no GPU or libcupti to
/// ask: then the run itself reports it.
std::string unknown_metric(std::vector<std::string> const& words);

}  // namespace gpuprof::host::command
