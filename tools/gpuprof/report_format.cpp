// SPDX-License-Identifier: Apache-2.0
#include "report_format.hpp"

#include "word_option.hpp"

#include <CLI/CLI.hpp>

namespace gpuprof::host::command {

void add_output_options(CLI::App& command, output_options& options) {
  complete_with(command.add_option("-f,--format", options.format,
                                   "table, csv, tsv or json. Default: as the extension of "
                                   "--output says, else table"),
                report_formats);
  auto* const output =
      command.add_option("-o,--output", options.output, "-: standard output; else this file");
  complete_with(output, {.words = {}, .is_file = true});
  output->check(name_for_output)->capture_default_str();
  command.add_flag("--force-overwrite", options.force_overwrite, "Replace an existing file");
  command.add_flag("--json", options.json, "The same as -f json");
  command.add_flag("--csv", options.csv, "The same as -f csv");
}

std::string name_for_output(std::string const& value) {
  for (std::string_view const ending : {".xlsx", ".xls", ".ods"})
    if (value.ends_with(ending))
      return std::string(ending) + " is not written; spreadsheets open NAME.csv";
  return not_empty(value);
}

result<report_format> chosen_format(output_options const& options) {
  if (options.json + options.csv + !options.format.empty() > 1)
    return error{"choose one of --format, --json and --csv"};
  if (options.json) return report_format::json;
  if (options.csv) return report_format::csv;
  if (!options.format.empty()) return choose("--format", options.format, report_formats);
  return format_by_extension(options.output, report_formats).value_or(report_format::table);
}

}  // namespace gpuprof::host::command
