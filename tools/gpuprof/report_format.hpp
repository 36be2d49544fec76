// SPDX-License-Identifier: Apache-2.0
// The formats of tables, and the options by which a subcommand is told format and place.
#pragma once

#include "base/result.hpp"
#include "word_option.hpp"

#include <string>

namespace CLI {
class App;
}

namespace gpuprof {

enum class report_format { table, csv, tsv, json };

inline constexpr word_value<report_format> report_formats[] = {{"table", report_format::table},
                                                               {"csv", report_format::csv},
                                                               {"tsv", report_format::tsv},
                                                               {"json", report_format::json}};

/// Of a subcommand that writes one table.
struct output_options {
  std::string format, output = "-";
  bool force_overwrite = false, json = false, csv = false;
};

/// --format, --output, --force-overwrite, and --json and --csv for short.
void add_output_options(CLI::App& command, output_options& options);

/// What --format says, else the extension of --output, else a table.
result<report_format> chosen_format(output_options const& options);

}  // namespace gpuprof
