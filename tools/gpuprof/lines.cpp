// SPDX-License-Identifier: Apache-2.0
// gpuprof lines FILE: which line of a Python program the GPU works for, and waits for.
#include "filter_options.hpp"
#include "lines/line_report.hpp"
#include "memory_limit.hpp"
#include "ranks/capture_names.hpp"
#include "report_format.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace gpuprof::host::command {
namespace {

struct lines_options {
  std::string file;
  std::string by = "line";
  std::vector<std::string> own;
  bool all_code = false;
  bool each_module = false;
  std::string format;
  std::string output = "-";
  bool force_overwrite = false;
  filter_options filters;
  std::string unit = "ms";
  bool wide = false;
  std::optional<std::size_t> limit;
  double memory_gib = default_memory_gib;
};

/// Nothing: by operator, which is no part of a stack.
using grouping = std::optional<stack_grouping>;
constexpr word_value<grouping> groupings[] = {{"line", stack_grouping::line},
                                              {"function", stack_grouping::function},
                                              {"file", stack_grouping::file},
                                              {"module", stack_grouping::module},
                                              {"op", std::nullopt}};
constexpr word_value<text::time_unit> units[] = {{"ns", text::time_unit::nanoseconds},
                                                 {"us", text::time_unit::microseconds},
                                                 {"ms", text::time_unit::milliseconds},
                                                 {"s", text::time_unit::seconds}};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof lines: %s\n", message.c_str());
  return code;
}

int run(lines_options const& options) {
  auto const by = choose("--by", options.by, groupings);
  if (!by) return fail(2, by.message());
  auto const unit = choose("--timeunit", options.unit, units);
  if (!unit) return fail(2, unit.message());
  stats_output_options output;
  output.base = options.output;
  output.overwrite = options.force_overwrite;
  output.captures = {options.file};
  output.unit = *unit;
  output.wide = options.wide;
  output.limit = options.limit;
  auto const by_name = format_by_extension(options.output, report_formats);
  if (options.output != "-") output.file = options.output;
  output.formats.push_back(by_name.value_or(report_format::table));
  if (!options.format.empty()) {
    auto const format = choose("--format", options.format, report_formats);
    if (!format) return fail(2, format.message());
    output.formats.front() = *format;
  }
  auto opened = capture::reader::open(options.file);
  if (!opened) return fail(1, opened.message());
  trace_contents trace(std::move(*opened));
  selection wanted;
  if (auto const failed =
          narrow(wanted, options.filters, trace, options.file, range_scope::process))
    return fail(failed->wrong_options ? 2 : 1, failed->message);
  auto finished = *by ? line_report(trace, wanted, options.file,
                                    {.grouping = **by,
                                     .own = options.own,
                                     .whole_stacks = options.all_code,
                                     .for_programs = output.formats.front() != report_format::table,
                                     .each_module = options.each_module})
                      : operator_report(trace, wanted, options.file, true);
  if (!finished.missing.empty()) return fail(1, finished.missing);
  std::vector<finished_report> reports;
  reports.push_back(std::move(finished));
  auto const written = write_reports(reports, overview_lines(trace.overview()), output);
  return written ? 0 : fail(1, written.message());
}

int find_and_run(lines_options& options) {
  auto files = named_captures(std::span<std::string const>(&options.file, 1));
  if (!files) return fail(1, files.message());
  if (files->size() != 1) return fail(2, "takes one capture at a time");
  options.file = files->front();
  return within_memory(
      options.memory_gib, options.file, [&] { return run(options); },
      [](std::string const& line) { return fail(1, line); });
}

}  // namespace

void add_lines(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<lines_options>();
  auto* const lines =
      app.add_subcommand("lines", "Tell which lines of a Python program the GPU works for");
  lines->footer(
      "GPU Time: of what the line launched. With Callees: also of what it called in own code. "
      "Idle Behind: the GPU had nothing to do between the work of this line and the next work. "
      "CUDA Waits: calls that wait, allocate or load.\nExit status: 0 done, 1 it could not be "
      "done, 2 the command line is wrong.");
  lines->add_option("FILE", options->file, "The capture")->required();
  auto* const by =
      lines->add_option("--by", options->by,
                        "line, function, file, module (of PyTorch) or op (each operator of PyTorch "
                        "at each line, if --pytorch ops recorded them): what has a row of its own");
  by->capture_default_str();
  complete_with(by, groupings);
  add_own_option(*lines, options->own);
  lines->add_flag("--all-code", options->all_code,
                  "Show the innermost line, also in installed packages");
  lines->add_flag("--each-module", options->each_module,
                  "With --by module: a row for each of the modules h.0, h.1, ... instead of one "
                  "for h.*");
  complete_with(lines->add_option("-f,--format", options->format,
                                  "table, csv, tsv or json. Default: as the extension of --output "
                                  "says, else table"),
                report_formats);
  auto* const output = lines->add_option("-o,--output", options->output,
                                         "-: standard output; NAME.csv (or .tsv, .json, .txt)");
  output->check(name_for_output)->capture_default_str();
  complete_with(output, {.words = {}, .is_file = true});
  lines->add_flag("--force-overwrite", options->force_overwrite, "Replace an existing output");
  add_filter_options(*lines, options->filters);
  auto* const unit =
      lines->add_option("--timeunit", options->unit, "ns, us, ms or s: the unit of all times");
  unit->capture_default_str();
  complete_with(unit, {.words = {"ns", "us", "ms", "s"}});
  lines->add_option("--limit", options->limit,
                    "N: at most so many lines, 0 for all; 20 on a terminal, else all");
  lines->add_flag("--wide", options->wide, wide_help);
  lines->add_option("--memory-limit", options->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  lines->callback([options, &exit_code] { exit_code = find_and_run(*options); });
}

}  // namespace gpuprof::host::command
