// SPDX-License-Identifier: Apache-2.0
// The formats that a capture can be exported to, as a table with the function of each; the input of
// every export, and its notes for the user.
#pragma once

#include "base/result.hpp"
#include "host/analysis/roofline_row.hpp"
#include "host/export/traced_path.hpp"
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

/// Options of an export besides its type. Each type uses those that it knows.
struct export_options {
  bool index = false;  // sqlite: indexes for the user's own SQL
  std::string run;     // parquet: a folder level above the ranks; empty: none
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
  /// Called when this many more rows are done.
  std::function<void(std::uint64_t rows)> advance;
  /// Returns what workloads achieved. Computed when called; may be empty.
  std::function<std::vector<exported_line>()> roofline = {};
  /// Returns the paths of the median step and of the slowest one. Computed when called; may be
  /// empty.
  std::function<std::vector<traced_path>()> critical_path = {};
  /// Lists what the capture lacks. Filled by types that do not read it through `trace`.
  std::vector<std::string> missing = {};
};

/// Reports finished rows to the job, some hundred at a time.
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

/// Lines for the user: what the format cannot hold, and what to know before trusting the output.
/// Usually empty.
using export_notes = std::vector<std::string>;

/// The formats that a capture can be exported to: a table, and the function of each.
struct export_type {
  std::string_view name;       // as --type takes it
  std::string_view extension;  // file name extension with its dot
  std::string_view read_by;    // for the help: programs that open it
  /// Writes `path`. It must not exist unless `overwrite` is set.
  result<export_notes> (*write)(export_job& job, std::string const& path, bool overwrite) = nullptr;
  /// Further ranks can be added to the folder: several captures are written to the same path.
  bool adds_ranks = false;
};

std::span<export_type const> export_types() noexcept;

/// Chrome trace events in Kineto's schema, as torch.profiler writes them. One file: gzip, or plain
/// if its name ends in ".json".
result<export_notes> write_chrome(export_job& job, std::string const& path, bool overwrite);
/// A folder with TABLE.csv for each table that has rows.
result<export_notes> write_csv(export_job& job, std::string const& path, bool overwrite);
/// One file. Integers beyond 2^53 are texts; values that are not finite are null.
result<export_notes> write_json(export_job& job, std::string const& path, bool overwrite);
/// A trace in Perfetto's own format: one file, which Perfetto's UI opens directly.
result<export_notes> write_perfetto(export_job& job, std::string const& path, bool overwrite);
/// The schema of nsys, for `nsys stats`, `nsys analyze` and the user's own SQL.
result<export_notes> write_sqlite(export_job& job, std::string const& path, bool overwrite);
/// A folder OUT/<table>/rank=N/ to which further ranks can be added. A separate program writes it,
/// if it is there.
result<export_notes> write_parquet(export_job& job, std::string const& path, bool overwrite);
/// The input of `nsys recipe` instead of reports: a folder OUT with rankN.nsys-rep (empty),
/// rankN.sqlite and rankN_pqtdir/. Further ranks can be added.
result<export_notes> write_nsys_recipes(export_job& job, std::string const& path, bool overwrite);
/// Python stacks, with the kernel or call as the innermost frame. folded: a line for each with its
/// GPU time in ns; speedscope and pprof: also CPU time, idle time, waits and launches.
result<export_notes> write_folded(export_job& job, std::string const& path, bool overwrite);
result<export_notes> write_speedscope(export_job& job, std::string const& path, bool overwrite);
result<export_notes> write_pprof(export_job& job, std::string const& path, bool overwrite);

}  // namespace gpuprof::host
