// SPDX-License-Identifier: Apache-2.0
// gpuprof sweep CAPTURE...: what a program, kernel or range achieved at each of its sizes.
#include "../word_option.hpp"
#include "base/readable.hpp"
#include "filter_options.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "ranks/capture_names.hpp"
#include "report_format.hpp"
#include "subcommands.hpp"
#include "sweep/sweep_of_captures.hpp"
#include "terminal.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

namespace gpuprof::host::command {
namespace {

struct sweep_options {
  std::vector<std::string> files;
  std::string over, range, range_scope = "process", format, output = "-";
  std::vector<std::string> kernels;
  std::optional<std::uint32_t> device;
  bool force_overwrite = false, wide = false;
  double memory_gib = default_memory_gib;
};

enum class sweep_format { table, csv, tsv, json, svg };
constexpr word_value<sweep_format> formats[] = {{"table", sweep_format::table},
                                                {"csv", sweep_format::csv},
                                                {"tsv", sweep_format::tsv},
                                                {"json", sweep_format::json},
                                                {"svg", sweep_format::svg}};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof sweep: %s\n", message.c_str());
  return code;
}

/// "payload" and "payload.FIELD" refer to ranges; everything else is a label.
sweep_question question_of(sweep_options const& options, range_scope scope) {
  constexpr std::string_view payload = "payload";
  sweep_question question;
  question.by_payload =
      options.over == payload || options.over.starts_with(std::string(payload) + ".");
  question.over = !question.by_payload      ? options.over
                  : options.over == payload ? std::string()
                                            : options.over.substr(payload.size() + 1);
  question.range = options.range;
  question.filters.kernels = options.kernels;
  question.filters.device = options.device;
  question.scope = scope;
  return question;
}

void write_table(output_file const& out, report::sweep const& of, bool wide) {
  auto const& facts = of.facts;
  for (auto const& [what, text] : {std::pair("program: ", facts.program), {"GPU: ", facts.device}})
    if (!text.empty()) put_line(out.stream(), what + text);
  for (auto const& note : facts.notes) put_line(out.stream(), "note: " + note);
  auto const table = report::sweep_table(of);
  out.put("\n ** " + table.title + ":\n\n");
  text::write_columns(
      table, {}, [&](std::string_view text) { out.put(text); }, page_of(out.stream(), wide));
  out.put("\n");
  for (auto const& line : report::findings_in_words(of)) put_line(out.stream(), line);
}

int write(sweep_options const& options, sweep_format format, report::sweep const& of) {
  auto const out = output_file::open(options.output, options.force_overwrite, options.files);
  if (!out) return fail(1, out.message());
  auto const sink = [&](std::string_view text) { out->put(text); };
  if (format != sweep_format::table && format != sweep_format::json)  // these formats contain them
    for (auto const& note : of.facts.notes) fail(0, note);
  switch (format) {
    case sweep_format::table:
      write_table(*out, of, options.wide);
      break;
    case sweep_format::csv:
      text::write_csv(report::sweep_csv_table(of), {}, sink);
      break;
    case sweep_format::tsv:
      text::write_tsv(report::sweep_csv_table(of), {}, sink);
      break;
    case sweep_format::json:
      report::write_sweep_json(of, sink);
      break;
    case sweep_format::svg:
      report::write_sweep_svg(of, sink);
      break;
  }
  auto const written = out->finish();
  return written ? 0 : fail(1, written.message());
}

int run(sweep_options& options) {
  auto const scope = choose("--range-scope", options.range_scope, range_scopes);
  if (!scope) return fail(2, scope.message());
  auto const format =
      options.format.empty()
          ? format_by_extension(options.output, formats).value_or(sweep_format::table)
          : choose("--format", options.format, formats);
  if (!format) return fail(2, format.message());
  if (auto const free = output_file::check(options.output, options.force_overwrite); !free)
    return fail(1, free.message());
  auto files = named_captures(options.files);
  if (!files) return fail(1, files.message());
  options.files = *std::move(files);
  auto const read = sweep_of_captures(options.files, question_of(options, *scope), options.over);
  if (auto const* const failed = std::get_if<sweep_failure>(&read))
    return fail(failed->wrong_options ? 2 : 1, failed->message);
  return write(options, *format, std::get<report::sweep>(read));
}

void add_output(CLI::App& command, sweep_options& options) {
  complete_with(command.add_option("-f,--format", options.format,
                                   "table, csv, tsv, json or svg. Default: as the extension of "
                                   "--output says, else table"),
                formats);
  auto* const output =
      command.add_option("-o,--output", options.output, "-: standard output; else this file");
  output->check(not_empty)->capture_default_str();
  complete_with(output, {.words = {}, .is_file = true});
  command.add_flag("--force-overwrite", options.force_overwrite, "Replace an existing file");
  command.add_flag("--wide", options.wide, wide_help);
  command.add_option("--memory-limit", options.memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_question(CLI::App& command, sweep_options& options) {
  command
      .add_option("CAPTURE", options.files,
                  "Captures of one program, one for each size: files, folders, or patterns in "
                  "quotes; for --over payload, one of all sizes")
      ->required();
  command
      .add_option("--over", options.over,
                  "NAME: the label NAME of each capture (gpuprof profile --label NAME=4096); "
                  "payload: the NVTX payload of ranges; payload.FIELD: this field of it")
      ->required()
      ->check(not_empty);
  command
      .add_option("--range", options.range,
                  "RANGE[@DOMAIN], or DOMAIN:RANGE as reports show it: only what was launched "
                  "inside; a call is such a range")
      ->check(not_empty);
  command
      .add_option("--kernel", options.kernels,
                  "NAME or regex:EXPRESSION: only these kernels, by full or base name. May be "
                  "given several times")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--device", options.device, "N: only this GPU, as CUDA counts them")
      ->check(CLI::Range(0, 65535));
  auto* const scope = command.add_option("--range-scope", options.range_scope, range_scope_help);
  scope->capture_default_str();
  complete_with(scope, range_scopes);
}

}  // namespace

void add_sweep(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<sweep_options>();
  auto* const command =
      app.add_subcommand("sweep", "Show what one program achieved at each of its sizes");
  command->footer(
      "The plateau is the median of the values within 5 % of the greatest; it is reached at the "
      "first size with 90 % of it, and the roof is left where a later size has less than 0.9 of "
      "the plateau's share of it.\nExit status: 0 done, 1 it could not be done or no capture has "
      "the label, 2 the command line is wrong.");
  add_question(*command, *options);
  add_output(*command, *options);
  command->callback([options, &exit_code] {
    auto const named = options->files.front();
    exit_code = within_memory(
        options->memory_gib, named, [&] { return run(*options); },
        [](std::string const& line) { return fail(1, line); });
  });
}

}  // namespace gpuprof::host::command
