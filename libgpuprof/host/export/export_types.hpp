// SPDX-License-Identifier: Apache-2.0
// The formats that a capture can be exported to: a table, and the function of each.
#pragma once

#include "host/export/export_job.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gpuprof::host {

struct export_type {
  std::string_view name;       // as --type takes it
  std::string_view extension;  // of the file, with its dot
  std::string_view read_by;    // for the help: programs that open it
  /// Writes `path`, which is not there, or may be replaced when `overwrite`.
  result<export_notes> (*write)(export_job& job, std::string const& path, bool overwrite) = nullptr;
  /// The folder of one rank takes further ones: several captures are written to the same path.
  bool adds_ranks = false;
};

std::span<export_type const> export_types() noexcept;

/// Chrome trace events in Kineto's schema, as torch.profiler writes them. One file: gzip, or plain
/// where its name ends in ".json".
result<export_notes> write_chrome(export_job& job, std::string const& path, bool overwrite);
/// A folder with TABLE.csv for each table that has rows.
result<export_notes> write_csv(export_job& job, std::string const& path, bool overwrite);
/// One file. Integers beyond 2^53 are texts; what is no number is null.
result<export_notes> write_json(export_job& job, std::string const& path, bool overwrite);
/// A trace in Perfetto's own format: one file, which Perfetto's UI opens as it is.
result<export_notes> write_perfetto(export_job& job, std::string const& path, bool overwrite);
/// The schema of nsys, for `nsys stats`, `nsys analyze` and people's own SQL.
result<export_notes> write_sqlite(export_job& job, std::string const& path, bool overwrite);
/// A folder OUT/<table>/rank=N/ to which further ranks can be added. A separate program writes it,
/// if it is there.
result<export_notes> write_parquet(export_job& job, std::string const& path, bool overwrite);
/// What `nsys recipe` reads in place of reports: a folder OUT with rankN.nsys-rep, empty,
/// rankN.sqlite and rankN_pqtdir/, to which further ranks can be added.
result<export_notes> write_nsys_recipes(export_job& job, std::string const& path, bool overwrite);

}  // namespace gpuprof::host
