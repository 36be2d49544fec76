// SPDX-License-Identifier: Apache-2.0
// Prints the summary of --stats when the program ends.
#pragma once

#include "guest/live/live_totals.hpp"
#include "guest/recording/capture_output.hpp"

namespace gpuprof::guest {

/// Prints to stderr, line by line.
void print_exit_summary(live_snapshot const& totals, named_counters const& counters);

}  // namespace gpuprof::guest
