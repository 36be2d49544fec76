// SPDX-License-Identifier: Apache-2.0
// The readers of other profilers' files. Each returns one object per process.
#pragma once

#include "host/import/import_job.hpp"
#include "host/import/imported_process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gpuprof::host {

using imported_processes = std::vector<std::unique_ptr<imported_process>>;

/// Given to readers: the job, a place for waiting records, and one for notes.
struct source_reading {
  import_job const& job;
  std::string spool_folder;
  import_outcome& outcome;
};

/// Both throw import_failure if the file has nothing usable. A damaged file is read as far as
/// possible.
imported_processes read_nsys_database(source_reading& reading);
imported_processes read_kineto_trace(source_reading& reading);

}  // namespace gpuprof::host
