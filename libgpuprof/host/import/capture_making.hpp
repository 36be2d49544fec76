// SPDX-License-Identifier: Apache-2.0
// Creates a capture from what was read of a process.
#pragma once

#include "host/import/import_job.hpp"
#include "host/import/imported_process.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host {

/// Returns how many rows write_capture() will advance by.
std::uint64_t rows_of(imported_process const& process);

/// Nests ranges, finds the launch of each work item, and writes the capture to `path`, replacing a
/// file there. `process` is consumed. Throws import_failure. Returns for each of
/// job.options.declared the number of ranges that it applied to.
std::vector<std::uint64_t> write_capture(imported_process& process, import_job const& job,
                                         std::string const& path);

}  // namespace gpuprof::host
