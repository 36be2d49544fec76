// SPDX-License-Identifier: Apache-2.0
// Puts finished reports where the user wants them, in the format the user wants.
#pragma once

#include "base/result.hpp"
#include "report_format.hpp"
#include "text/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

/// A report, or the one line that says why there is none.
struct finished_report {
  text::table table;
  std::string missing;             // empty: there is a table
  std::vector<std::string> notes;  // what a reader must know about the numbers
};

struct stats_output_options {
  std::vector<report_format> formats;  // of each report; the last one holds for the rest
  std::string base;                    // "-": standard output; else BASE_REPORT.EXTENSION
  std::string file;                    // not empty: of a single report, in place of that
  bool overwrite = false;
  std::vector<std::string> captures;  // never replaced
  text::time_unit unit{};
  bool wide = false;                 // names stay whole on narrow terminals
  std::optional<std::size_t> limit;  // lines of a report, 0: all; else 20 on a terminal
};

/// `heading` goes before column reports, and to stderr where the output must stay machine-readable.
result<void> write_reports(std::vector<finished_report> const& reports,
                           std::vector<std::string> const& heading,
                           stats_output_options const& options);

}  // namespace gpuprof::host::command
