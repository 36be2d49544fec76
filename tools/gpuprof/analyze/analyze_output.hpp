// SPDX-License-Identifier: Apache-2.0
// Puts advice where the user wants it, in the format the user wants.
#pragma once

#include "base/result.hpp"
#include "host/report/advice_report.hpp"
#include "report_format.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace gpuprof::host::command {

enum class analyze_format { text, csv, json };

struct analyze_place {
  analyze_format format{};
  std::string output;                 // "-": standard output
  std::vector<std::string> captures;  // never replaced
  bool overwrite = false;
  bool wide = false;  // names stay whole on narrow terminals
};

/// CSV has the findings, or the ledger by what is asked for; the first lines go to stderr then.
result<void> write_advice(report::advice_report const& report,
                          report::advice_text_options const& options, analyze_place const& place);

/// The text for a terminal or log.
void print_advice(report::advice_report const& report, std::FILE* out);

/// Tables with the columns of nsys, one after the other.
result<void> write_nsys_tables(std::vector<text::table> const& tables, analyze_place const& place);

// Advice on what `gpuprof profile` has just recorded.

/// To stderr, which the program has left. A capture that its program has removed is passed over;
/// what cannot be analyzed gives one line.
void analyze_at_end(std::vector<std::string> const& captures);

}  // namespace gpuprof::host::command
