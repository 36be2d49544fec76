// SPDX-License-Identifier: Apache-2.0
// Whether the metrics that a user names exist, found out before the program starts.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::host::command {

/// One line for the first that the chip of this machine does not have, with the nearest that it
/// has. Empty: all exist, they are names of sets, or there is no GPU or no libcupti to ask: then
/// the run says what it finds.
std::string unknown_metric(std::vector<std::string> const& words);

}  // namespace gpuprof::host::command
