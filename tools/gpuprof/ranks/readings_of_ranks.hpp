// SPDX-License-Identifier: Apache-2.0
// Counters that other ranks of a job have read of the same kernels.
#pragma once

#include "base/rank_files.hpp"
#include "host/reading/trace_contents.hpp"
#include "roofline_reading.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof {

/// Ranks take turns at reading: what one has read holds for the same kernels of the others. A line
/// for each capture that gave something.
std::vector<std::string> read_other_ranks(std::span<rank_file const> others, trace_contents& trace,
                                          roofline_reading& read);

}  // namespace gpuprof
