// SPDX-License-Identifier: Apache-2.0
// Advice on what `gpuprof profile` has just recorded.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::host::command {

/// To stderr, which the program has left. A capture that its program has removed is passed over;
/// what cannot be analyzed gives one line.
void analyze_at_end(std::vector<std::string> const& captures);

}  // namespace gpuprof::host::command
