// SPDX-License-Identifier: Apache-2.0
// Which rank of its job a capture is, whatever its file is called.
#pragma once

#include "host/reading/trace_contents.hpp"
#include "model/process_rank.hpp"

#include <optional>

namespace gpuprof::host {

/// As the launcher of the job had told the process; nothing where there was none. A world_size of
/// 0: not known.
std::optional<process_rank> rank_of_capture(trace_contents const& trace);

/// Likewise; rank 0 of 1 where there was no launcher.
process_rank rank_or_only_one(trace_contents const& trace);

}  // namespace gpuprof::host
