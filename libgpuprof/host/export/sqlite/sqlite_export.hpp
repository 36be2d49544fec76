// SPDX-License-Identifier: Apache-2.0
// The export to SQLite in the schema of nsys, for `nsys stats`, `nsys analyze` and people's own
// SQL.
#pragma once

#include "host/export/export_job.hpp"

#include <string>

namespace gpuprof {

result<export_notes> write_sqlite(export_job& job, std::string const& path, bool overwrite);

}  // namespace gpuprof
