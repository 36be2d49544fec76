// SPDX-License-Identifier: Apache-2.0
// The readers of other profilers' files. Each hands over what it read, one object a process.
#pragma once

#include "host/import/import_job.hpp"
#include "host/import/imported_process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gpuprof::host {

using imported_processes = std::vector<std::unique_ptr<imported_process>>;

/// What readers are given: where records wait, and where notes go.
struct source_reading {
  import_job const& job;
  std::string spool_folder;
  import_outcome& outcome;
};

/// Both throw import_failure when there is nothing to be had from the file. What is damaged is read
/// as far as it goes.
imported_processes read_nsys_database(source_reading& reading);
imported_processes read_kineto_trace(source_reading& reading);

}  // namespace gpuprof::host
