// SPDX-License-Identifier: Apache-2.0
// Finds the rank of a capture in its job, independent of the file name.
#pragma once

#include "host/reading/trace_contents.hpp"
#include "model/process_rank.hpp"

#include <optional>

namespace gpuprof::host {

/// Returns the rank that the job's launcher gave to the process, or nothing without a launcher.
/// world_size is 0 if it is not known.
std::optional<process_rank> rank_of_capture(trace_contents const& trace);

/// As rank_of_capture(), but returns rank 0 of 1 without a launcher.
process_rank rank_or_only_one(trace_contents const& trace);

}  // namespace gpuprof::host
