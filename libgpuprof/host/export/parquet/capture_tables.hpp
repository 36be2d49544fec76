// SPDX-License-Identifier: Apache-2.0
// Writes all tables of a capture into the folder of its rank.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/parquet/rank_folder.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::host {

/// Returns what the capture lacks. Called after everything was read.
using missing_lines = std::function<std::vector<std::string>()>;

result<void> write_capture_tables(export_job& job, rank_folder& folder,
                                  missing_lines const& missing);

}  // namespace gpuprof::host
