// SPDX-License-Identifier: Apache-2.0
// The input of every export, and its notes for the user when it is done.
#pragma once

#include "base/result.hpp"
#include "host/analysis/roofline_row.hpp"
#include "host/reading/exported_names.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <functional>
#include <string>
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

}  // namespace gpuprof::host
