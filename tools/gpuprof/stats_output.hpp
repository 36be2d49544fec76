// SPDX-License-Identifier: Apache-2.0
// Writes finished reports to the output and in the format that the user chose.
#pragma once

#include "base/result.hpp"
#include "report_format.hpp"
#include "text/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

/// A report, or one line on why it is missing.
struct finished_report {
  text::table table;
  std::string missing;             // empty: there is a table
  std::vector<std::string> notes;  // notes on how to read the numbers
};

struct stats_output_options {
  std::vector<report_format> formats;  // one per report; the last one also applies to the rest
  std::string base;                    // "-": standard output; else BASE_REPORT.EXTENSION
  std::string file;                    // if set, used for a single report instead of `base`
  bool overwrite = false;
  std::vector<std::string> captures;  // output must not replace these
  text::time_unit unit{};
  bool wide = false;                 // names are not shortened on narrow terminals
  std::optional<std::size_t> limit;  // lines per report, 0: all; default: 20 on a terminal
};

/// `heading` precedes text reports; it goes to stderr if the output is for programs.
result<void> write_reports(std::vector<finished_report> const& reports,
                           std::vector<std::string> const& heading,
                           stats_output_options const& options);

}  // namespace gpuprof::host::command
