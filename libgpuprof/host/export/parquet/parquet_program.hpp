// SPDX-License-Identifier: Apache-2.0
// Runs export-parquet, the program that has Arrow, for the exports that write Parquet.
#pragma once

#include "base/result.hpp"
#include "host/export/export_job.hpp"
#include "host/export/parquet/plugin_words.hpp"

#include <string>

namespace gpuprof::host {

/// Returns the path of the program: its place in the install tree, or beside the command in the
/// build tree. The error says how to get it.
result<std::string> parquet_program();

/// Runs the program until it ends. What it reports on the capture is stored in the job; an
/// interruption ends it.
result<void> run_parquet_program(export_job& job, plugin_order const& order);

}  // namespace gpuprof::host
