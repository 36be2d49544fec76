// SPDX-License-Identifier: Apache-2.0
// Writes advice to the output and in the format that the user chose.
#pragma once

#include "base/result.hpp"
#include "host/report/advice_report.hpp"
#include "report_format.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace gpuprof::host::command {

enum class analyze_format { text, csv, json, markdown };

struct analyze_place {
  analyze_format format{};
  std::string output;                 // "-": standard output
  std::vector<std::string> captures;  // output must not replace these
  bool overwrite = false;
  bool wide = false;  // names are not shortened on narrow terminals
};

/// CSV has the findings, or the ledger if options ask for it; the first lines then go to stderr.
result<void> write_advice(report::advice_report const& report,
                          report::advice_text_options const& options, analyze_place const& place);

/// Prints the text for a terminal or log.
void print_advice(report::advice_report const& report, std::FILE* out);

/// Writes tables with the columns of nsys one after the other.
result<void> write_nsys_tables(std::vector<text::table> const& tables, analyze_place const& place);

// Analyzes what `gpuprof profile` has just recorded.

/// Writes to stderr, because stdout belongs to the program. A capture that its program has removed
/// is skipped; one that cannot be analyzed gives one line.
void analyze_at_end(std::vector<std::string> const& captures);

}  // namespace gpuprof::host::command
