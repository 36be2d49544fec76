// SPDX-License-Identifier: Apache-2.0
// Makes a capture of what was read of a process.
#pragma once

#include "host/import/import_job.hpp"
#include "host/import/imported_process.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host {

/// How many rows write_capture() is going to advance by.
std::uint64_t rows_of(imported_process const& process);

/// Nests ranges, finds who launched what, and writes it all to `path`, which may be replaced. What
/// was read is gone afterwards. Throws import_failure. Returns how many ranges each of
/// job.options.declared was for.
std::vector<std::uint64_t> write_capture(imported_process& process, import_job const& job,
                                         std::string const& path);

}  // namespace gpuprof::host
