// SPDX-License-Identifier: Apache-2.0
// The summary printed when a program ends: losses and cost, then top kernels, copies and ranges.
#pragma once

#include "guest/live/live_totals.hpp"
#include "text/overview.hpp"

#include <string>

namespace gpuprof::guest {

/// Prints at most `rows` lines of each kind and says how many were left out. Ends with a newline.
std::string summary_text(text::overview const& about, live_snapshot const& totals,
                         std::size_t rows = 10);

}  // namespace gpuprof::guest
