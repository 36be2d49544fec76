// SPDX-License-Identifier: Apache-2.0
// The formats that a capture can be exported to: a table with the function of each; what each gets,
// and its notes for the user when it is done.
#pragma once

#include "base/result.hpp"
#include "host/analysis/roofline_row.hpp"
#include "host/reading/exported_names.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// What a user may ask of an export beside its type; a type takes what it knows.
struct export_options {
  bool index = false;  // sqlite: indexes for people's own SQL
  std::string run;     // parquet: a level of the folders above ranks; empty: none
};

/// A line of `gpuprof roofline`.
struct exported_line {
  std::string_view kind;  // signature, kernel, range, graph
  roofline_row row;
};

struct export_job {
  trace_contents& trace;
  exported_names& names;
  export_options options;
  /// So many more rows are done.
  std::function<void(std::uint64_t rows)> advance;
  /// What workloads achieved, worked out when it is called; it may be empty.
  std::function<std::vector<exported_line>()> roofline = {};
  /// What the capture lacks, from a type that has read it by other means than `trace`.
  std::vector<std::string> missing = {};
};

/// Tells the job of rows, some hundred at a time.
class row_progress {
 public:
  explicit row_progress(export_job& job) noexcept : job_(&job) {}
  void one() {
    if (++rows_ < step) return;
    job_->advance(rows_);
    rows_ = 0;
  }
  void end() { job_->advance(std::exchange(rows_, 0)); }

 private:
  static constexpr std::uint64_t step = 512;
  export_job* job_;
  std::uint64_t rows_ = 0;
};

/// Lines for the user: what the format cannot hold, what to know before trusting it. Usually none.
using export_notes = std::vector<std::string>;

/// The formats that a capture can be exported to: a table, and the function of each.
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
