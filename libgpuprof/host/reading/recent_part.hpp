// SPDX-License-Identifier: Apache-2.0
// Narrows a long capture down to the blocks that figures of its last seconds need.
#pragma once

#include "capture/reader.hpp"
#include "model/recent_metrics.hpp"

namespace gpuprof::host {

/// Leaves out blocks of GPU work and samples that are older than the part, so that reading it takes
/// equally long in a capture of an hour. GPU work at the time of readings is kept, wherever it is.
/// Returns the time of the part. Before that, other blocks of these tables are not decoded.
time_stretch keep_recent(capture::reader& file, recent_part const& part);

}  // namespace gpuprof::host
