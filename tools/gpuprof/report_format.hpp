// SPDX-License-Identifier: Apache-2.0
// The formats of tables and other outputs, and the options by which a subcommand gets format and
// output.
#pragma once

#include "base/result.hpp"
#include "word_option.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace gpuprof::host::command {

enum class report_format { table, csv, tsv, json };

inline constexpr word_value<report_format> report_formats[] = {{"table", report_format::table},
                                                               {"csv", report_format::csv},
                                                               {"tsv", report_format::tsv},
                                                               {"json", report_format::json}};

/// For a subcommand that writes one table.
struct output_options {
  std::string format, output = "-";
  bool force_overwrite = false, json = false, csv = false;
};

/// Adds --format, --output, --force-overwrite, and the short forms --json and --csv.
void add_output_options(CLI::App& command, output_options& options);

/// Uses --format, else the extension of --output, else a table.
result<report_format> chosen_format(output_options const& options);

/// A check of --output: not empty, and not a name whose ending promises a spreadsheet.
std::string name_for_output(std::string const& value);

/// Determines the format of an output from --format, else from the extension of --output.
///
/// "kernels.csv" -> csv, if that is one of the formats; ".txt" is a table.
template <class Value, std::size_t N>
std::optional<Value> format_by_extension(std::string_view output,
                                         word_value<Value> const (&formats)[N]) {
  auto const dot = output.rfind('.');
  auto const slash = output.rfind('/');
  if (dot == output.npos || dot == 0 || (slash != output.npos && dot <= slash + 1))
    return std::nullopt;
  auto const extension = output.substr(dot + 1);
  auto const word = extension == "txt" ? "table" : extension;
  auto const found = std::find_if(std::begin(formats), std::end(formats),
                                  [&](auto const& format) { return format.word == word; });
  return found != std::end(formats) ? std::optional(found->value) : std::nullopt;
}

}  // namespace gpuprof::host::command
