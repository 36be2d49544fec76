// SPDX-License-Identifier: Apache-2.0
// Runs export-parquet, the program that has Arrow, for the exports that write Parquet.
#pragma once

#include "base/result.hpp"
#include "host/export/export_job.hpp"
#include "host/export/parquet/plugin_words.hpp"

#include <string>

namespace gpuprof::host {

/// Where the install tree has it, or beside the command in the build tree; else how to get it.
result<std::string> parquet_program();

/// Until it ends. What it says of the capture comes into the job; an interruption ends it.
result<void> run_parquet_program(export_job& job, plugin_order const& order);

}  // namespace gpuprof::host
