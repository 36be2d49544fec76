// SPDX-License-Identifier: Apache-2.0
// Kernels whose FLOP and bytes are known, to hold counters against.
#pragma once

#include <string>
#include <vector>

/// Launches each of them [steps] times, and prints what one launch of each does.
int counted_work(std::vector<std::string> const& words);
