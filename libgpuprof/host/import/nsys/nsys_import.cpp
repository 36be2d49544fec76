// SPDX-License-Identifier: Apache-2.0
// Reads the tables of an nsys SQLite export in the right order.
#include "base/readable.hpp"
#include "host/import/nsys/nsys_source.hpp"

namespace gpuprof::host {
namespace {

constexpr char const* tables_read[] = {
    "CUPTI_ACTIVITY_KIND_KERNEL",          "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",          "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUDA_GPU_MEMORY_USAGE_EVENTS",        "NVTX_EVENTS"};

std::uint64_t rows_ahead(sqlite_reader& file) {
  std::uint64_t rows = 2 * file.row_count("NVTX_EVENTS");  // read three times
  bool has_any = false;
  for (auto const* const table : tables_read) {
    has_any = has_any || file.has(table);
    rows += file.row_count(table);
  }
  return has_any ? rows + 1 : 0;
}

/// A future version of nsys may name a table NVTX_EVENTS_V2.
void note_unknown_tables(sqlite_reader& file, source_reading& reading) {
  for (auto const& name : file.tables())
    for (std::string const known : tables_read) {
      if (name == known || !name.starts_with(known)) continue;
      if (auto const rows = file.row_count(name); rows > 0) {
        reading.outcome.lacks_something = true;
        reading.outcome.notes.push_back(reading.job.options.source + " also holds a table that " +
                                        "this version does not know: " + name + " with " +
                                        counted(rows, "rows"));
      }
    }
}

std::string listed(std::set<std::uint32_t> const& ids) {
  std::string line;
  for (auto const id : ids) line += (line.empty() ? "" : ", ") + std::to_string(id);
  return line;
}

[[noreturn]] void refuse_empty(nsys_source const& source) {
  auto const& options = source.reading.job.options;
  auto line = options.source + " holds no records of CUDA or NVTX";
  if (options.process) line += " of process " + std::to_string(*options.process);
  line += "; nothing is written";
  if (options.process && !source.seen().empty()) line += ", --pid takes " + listed(source.seen());
  throw import_failure(line);
}

}  // namespace

imported_processes read_nsys_database(source_reading& reading) {
  auto const& path = reading.job.options.source;
  sqlite_reader file(path);
  auto const rows = rows_ahead(file);
  auto const is_of_nsys = file.has("META_DATA_EXPORT") || file.has("EXPORT_META_DATA") ||
                          file.has("TARGET_INFO_SYSTEM_ENV") || file.has("ANALYSIS_DETAILS");
  if (rows == 0 && is_of_nsys)
    throw import_failure(path +
                         " is of nsys, but nothing of CUDA or NVTX was recorded; nothing is "
                         "written, record with nsys profile --trace cuda,nvtx");
  if (rows == 0)
    throw import_failure(path +
                         " holds no table of nsys (CUPTI_ACTIVITY_KIND_KERNEL, NVTX_EVENTS, ...); "
                         "nothing is written, make it with nsys export --type sqlite");
  reading.job.begin("reading " + path, rows);
  nsys_source source(file, reading);
  read_nsys_calls(source);  // the rows of these two name their process in every version
  read_nsys_nvtx(source);
  read_nsys_gpu_work(source);
  note_unknown_tables(file, reading);
  source.keep_those_with_records();
  if (source.processes().empty()) refuse_empty(source);
  read_nsys_target(source);
  imported_processes made;
  std::set<std::uint32_t> ids;
  for (auto& [key, process] : source.processes()) {
    ids.insert(process.records->process_id.value_or(0));
    made.push_back(std::move(process.records));
  }
  if (made.size() > 1)
    reading.outcome.notes.push_back(
        path + " holds " + std::to_string(made.size()) +
        " processes, each becomes a capture of its own; --pid takes one of them: " + listed(ids));
  return made;
}

}  // namespace gpuprof::host
