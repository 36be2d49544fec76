// SPDX-License-Identifier: Apache-2.0
// What a capture says about itself, for the footer of each file and the table `capture`.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/parquet/parquet_file.hpp"

#include <string>
#include <vector>

namespace gpuprof {

/// All facts of the capture and its rank.
parquet_facts facts_of(export_job& job);

/// One row: who, where, when, and what is missing. Ask when all tables were read.
std::vector<table_column> capture_columns(export_job& job, std::vector<std::string> const& missing);

}  // namespace gpuprof
