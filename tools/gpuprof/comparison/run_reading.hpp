// SPDX-License-Identifier: Apache-2.0
// Reads what a comparison needs of one capture, in one pass over its GPU work.
#pragma once

#include "base/result.hpp"
#include "host/compare/run_digest.hpp"
#include "host/reading/trace_contents.hpp"

#include <string>

namespace gpuprof {

/// `step`: the range that repeats; empty: as find_steps has it. Counters, where there are any, take
/// two passes more.
result<compare::run_digest> read_run(std::string const& path, std::string const& step);

}  // namespace gpuprof
