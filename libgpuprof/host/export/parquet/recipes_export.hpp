// SPDX-License-Identifier: Apache-2.0
// What `nsys recipe` reads in place of reports: for each rank an SQLite export and a parquetdir.
#pragma once

#include "host/export/export_job.hpp"

#include <string>

namespace gpuprof {

/// A folder OUT with rankN.nsys-rep, empty, rankN.sqlite and rankN_pqtdir/, to which further ranks
/// can be added.
result<export_notes> write_nsys_recipes(export_job& job, std::string const& path, bool overwrite);

}  // namespace gpuprof
