// SPDX-License-Identifier: Apache-2.0
// What a capture says of GPU work that ran and has no record in it.
#pragma once

#include "base/time.hpp"
#include "host/reading/trace_contents.hpp"

#include <string>

namespace gpuprof {

/// Why samples of the whole GPU cannot be divided among the work that has records; empty when they
/// can be: filters left out kernels, or records were lost.
std::string why_samples_are_not_used(trace_contents const& trace);

/// How long before the last record of a file without its end mark others may be missing: the time
/// between two flushes.
duration_ns unsure_end(trace_contents const& trace);

}  // namespace gpuprof
