// SPDX-License-Identifier: Apache-2.0
// The exports that write the tables of a capture as they are.
#pragma once

#include "host/export/export_job.hpp"

#include <string>

namespace gpuprof {

/// A folder with TABLE.csv for each table that has rows.
result<export_notes> write_csv(export_job& job, std::string const& path, bool overwrite);

/// One file. Integers beyond 2^53 are texts; what is no number is null.
result<export_notes> write_json(export_job& job, std::string const& path, bool overwrite);

}  // namespace gpuprof
