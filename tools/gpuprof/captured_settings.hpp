// SPDX-License-Identifier: Apache-2.0
// What was asked of the profiler when a capture was made.
#pragma once

#include "guest/options/settings.hpp"
#include "host/reading/trace_contents.hpp"

namespace gpuprof {

/// Which counters, and at what price: by the variables of the profiled program.
metrics_options captured_metrics(trace_contents const& trace);

}  // namespace gpuprof
