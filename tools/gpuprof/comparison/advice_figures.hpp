// SPDX-License-Identifier: Apache-2.0
// The time ledger and the findings of a run, for a comparison.
#pragma once

#include "host/compare/run_digest.hpp"
#include "host/reading/trace_contents.hpp"

#include <string>

namespace gpuprof {

/// Buckets are of a GPU, the mean of all used; "idle" is the sum of those that begin with it.
void take_advice(compare::run_digest& digest, trace_contents& trace, std::string const& step);

}  // namespace gpuprof
