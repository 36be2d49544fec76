// SPDX-License-Identifier: Apache-2.0
// What --stats prints when the program ends: losses and cost, then top kernels, copies and ranges.
#pragma once

#include "guest/live/live_totals.hpp"
#include "guest/recording/capture_output.hpp"
#include "text/overview.hpp"

#include <cstddef>
#include <string>

namespace gpuprof::guest {

/// At most `rows` lines of each kind; says how many more there are. Ends with a line end.
std::string summary_text(text::overview const& about, live_snapshot const& totals,
                         std::size_t rows = 10);

/// On stderr, line by line.
void print_exit_summary(live_snapshot const& totals, named_counters const& counters);

}  // namespace gpuprof::guest
