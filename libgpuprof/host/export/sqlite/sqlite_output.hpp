// SPDX-License-Identifier: Apache-2.0
// What the writers of rows share, and those writers: each fills some tables.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/sqlite/nsys_terms.hpp"
#include "host/export/sqlite/string_ids.hpp"

#include <string>

namespace gpuprof {

struct sqlite_output {
  export_job& job;
  database file;
  string_ids strings;
  nsys_terms terms;

  sqlite_output(export_job& of, std::string const& path);
};

void write_kernels(sqlite_output& to);
void write_memory_work(sqlite_output& to);  // copies, migrations and fills
void write_graphs(sqlite_output& to);
void write_calls(sqlite_output& to);  // API calls, waits, allocations
void write_ranges(sqlite_output& to);
void write_enumerations(sqlite_output& to);
void write_target(sqlite_output& to);           // GPUs, process, threads, versions
void write_counters_of_gpu(sqlite_output& to);  // metrics, readings, samples
void write_roofline(sqlite_output& to);         // what gpuprof roofline says
void write_facts(sqlite_output& to);
/// Last: only reading shows what is missing.
void write_losses(sqlite_output& to);

}  // namespace gpuprof
