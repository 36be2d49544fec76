// SPDX-License-Identifier: Apache-2.0
// The Parquet export as the command sees it: a program of its own does the work, if it is there.
#pragma once

#include "host/export/export_job.hpp"

#include <string>

namespace gpuprof {

/// A folder OUT/<table>/rank=N/ to which further ranks can be added.
result<export_notes> write_parquet(export_job& job, std::string const& path, bool overwrite);

}  // namespace gpuprof
