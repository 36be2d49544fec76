// SPDX-License-Identifier: Apache-2.0
// Short kernels in mixed order, to hold samples of the whole GPU against.
#pragma once

#include <string>
#include <vector>

/// Launches [count] of them back to back, and prints how often each ran and what one launch reads.
int mixed_work(std::vector<std::string> const& words);
