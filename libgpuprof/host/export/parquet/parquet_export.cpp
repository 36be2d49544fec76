// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/parquet_export.hpp"

#include "host/export/parquet/parquet_program.hpp"

namespace gpuprof {

result<export_notes> write_parquet(export_job& job, std::string const& path, bool overwrite) {
  auto const written = run_parquet_program(
      job,
      {plugin_order::capture_tables, job.trace.file().path(), path, job.options.run, overwrite});
  if (!written) return error{written.message()};
  return export_notes{};
}

}  // namespace gpuprof
