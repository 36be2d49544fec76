// SPDX-License-Identifier: Apache-2.0
// gpuprof compare BASE NEW...: what changed between runs, and if anything got worse.
#include "comparison/comparison_output.hpp"
#include "comparison/read_sides.hpp"
#include "filter_options.hpp"
#include "host/compare/comparison.hpp"
#include "host/compare/gate.hpp"
#include "host/compare/run_digest.hpp"
#include "memory_limit.hpp"
#include "report_format.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

namespace gpuprof::host::command {
namespace {

struct compare_options {
  std::vector<std::string> files;  // the base first
  std::vector<std::string> more_bases;
  std::vector<std::string> gate;
  std::vector<std::string> own;
  std::string step, by, format, output = "-", unit = "us";
  bool json = false, csv = false, force_overwrite = false, wide = false;
  bool different_programs = false;
  std::size_t limit = 20;
  double memory_gib = default_memory_gib;
};

constexpr int undecided_code = 3;

constexpr word_value<text::time_unit> units[] = {{"ns", text::time_unit::nanoseconds},
                                                 {"us", text::time_unit::microseconds},
                                                 {"ms", text::time_unit::milliseconds},
                                                 {"s", text::time_unit::seconds}};

constexpr word_value<stack_grouping> groupings[] = {{"line", stack_grouping::line},
                                                    {"module", stack_grouping::module}};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof compare: %s\n", message.c_str());
  return code;
}

result<comparison_page> page_of(compare_options const& options) {
  comparison_page page;
  page.output = options.output;
  page.overwrite = options.force_overwrite;
  page.wide = options.wide;
  page.limit = options.limit;
  if (options.json + options.csv + !options.format.empty() > 1)
    return error{"choose one of --format, --json and --csv"};
  auto const unit = choose("--timeunit", options.unit, units);
  if (!unit) return error{unit.message()};
  page.unit = *unit;
  auto word = options.json ? "json" : options.csv ? "csv" : options.format;
  if (word.empty()) {
    page.format =
        format_by_extension(options.output, comparison_formats).value_or(comparison_format::table);
    return page;
  }
  auto const format = choose("--format", word, comparison_formats);
  if (!format) return error{format.message()};
  page.format = *format;
  return page;
}

result<std::vector<compare::clause>> gate_of(compare_options const& options) {
  std::vector<compare::clause> all;
  for (auto const& text : options.gate) {
    auto const clauses = compare::parse_gate(text);
    if (!clauses) return error{"--fail-on: " + clauses.message()};
    all.insert(all.end(), clauses->begin(), clauses->end());
  }
  return all;
}

/// What is compared besides kernels: as --by says, else what the gate asks for.
result<std::optional<line_options>> places_of(compare_options const& options,
                                              std::vector<compare::clause> const& gate) {
  std::optional<line_options> by;
  if (!options.by.empty()) {
    auto const chosen = choose("--by", options.by, groupings);
    if (!chosen) return error{chosen.message()};
    by = line_options{.grouping = *chosen};
  }
  for (auto const& clause : gate) {
    auto const is_line = clause.kind == compare::clause_kind::line;
    if (!is_line && clause.kind != compare::clause_kind::module) continue;
    auto const wanted = is_line ? stack_grouping::line : stack_grouping::module;
    if (!by) by = line_options{.grouping = wanted};
    if (by->grouping != wanted)
      return error{"--fail-on " + clause.text + ": one comparison is either by line or by module"};
  }
  if (!options.own.empty() && (!by || by->grouping != stack_grouping::line))
    return error{"--own goes with --by line"};
  if (by) by->own = options.own;
  return by;
}

/// Prints one line per clause to stderr and returns the exit code.
int answer(std::vector<compare::gate_result> const& gate) {
  int code = 0;
  for (auto const& clause : gate) {
    fail(0, clause.line);
    if (clause.answer == compare::gate_answer::failed) code = 1;
    if (clause.answer == compare::gate_answer::undecided && code == 0) code = undecided_code;
  }
  return code;
}

int run(compare_options const& options) {
  auto const page = page_of(options);
  if (!page) return fail(2, page.message());
  auto const clauses = gate_of(options);
  if (!clauses) return fail(2, clauses.message());
  if (options.files.size() < 2) return fail(2, "name a BASE and at least one NEW capture");
  auto bases = options.more_bases;
  bases.insert(bases.begin(), options.files.front());
  auto const by = places_of(options, *clauses);
  if (!by) return fail(2, by.message());
  auto const sides =
      read_sides(bases, {options.files.begin() + 1, options.files.end()}, options.step, *by);
  if (!sides) return fail(1, sides.message());
  auto const& [base, fresh] = *sides;
  if (auto const differ = compare::programs_differ(base, fresh);
      !differ.empty() && !options.different_programs)
    return fail(1, "the captures are of different programs: " + differ +
                       "; nothing is compared, --different-programs does it all the same");
  auto const compared = compare::compare_runs(base, fresh);
  auto const gate = compare::judge_gate(*clauses, compared, fresh);
  auto const written = write_comparison(compared, {base, fresh}, gate, *page);
  if (!written) return fail(1, written.message());
  return answer(gate);
}

void add_output(CLI::App& command, compare_options& options) {
  complete_with(command.add_option("-f,--format", options.format,
                                   "table, markdown (for a pull request), csv, tsv or json. "
                                   "Default: as the extension of --output says, else table"),
                comparison_formats);
  auto* const output =
      command.add_option("-o,--output", options.output, "-: standard output; else this file");
  complete_with(output, {.words = {}, .is_file = true});
  output->check(name_for_output)->capture_default_str();
  command.add_flag("--force-overwrite", options.force_overwrite, "Replace an existing file");
  command.add_flag("--json", options.json, "The same as -f json");
  command.add_flag("--csv", options.csv, "The same as -f csv");
  auto* const unit = command.add_option("--timeunit", options.unit,
                                        "ns, us, ms or s: the unit of times in tables for reading");
  unit->capture_default_str();
  complete_with(unit, units);
  command
      .add_option("--limit", options.limit,
                  "N: at most so many lines of each table for reading, 0 for all")
      ->capture_default_str();
  command.add_flag("--wide", options.wide, wide_help);
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<compare_options>();
  auto* const command = app.add_subcommand("compare", "Say what changed between runs");
  command->footer(
      "A side of several captures of one program tells its noise best: name a folder or a pattern "
      "for it.\nExit status: 0 done, 1 it could not be done or the gate says that it got worse, 2 "
      "the command line is wrong, 3 the gate cannot decide: noise is too great.");
  command
      ->add_option("FILE", options->files,
                   "BASE NEW...: captures, made by gpuprof profile: files, folders, or patterns in "
                   "quotes. The first is the base, also where it stands for several")
      ->required();
  auto const add_list = [&](char const* names, std::vector<std::string>& to, char const* help) {
    auto* const option = command->add_option(names, to, help);
    option->expected(1)->allow_extra_args(false)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
    return option;
  };
  complete_with(add_list("--base", options->more_bases,
                         "FILE: a further capture of the base; may stand several times"),
                {.words = {}, .is_file = true});
  add_list(
      "--fail-on", options->gate,
      "CLAUSE[,CLAUSE...]: exit with 1 when it got worse beyond noise: run>3%, step>3%, gpu>3%, "
      "range:NAME>2%, kernel:REGEX>5%, line:NAME>3%, module:NAME>3%, bucket:NAME>2%, "
      "finding:RULE>1%, lost>0");
  command
      ->add_option("--step", options->step,
                   "NAME: the range that is a step, also with a number behind it. Default: the "
                   "outermost one that repeats")
      ->check(not_empty);
  complete_with(
      command->add_option("--by", options->by,
                          "line (of Python) or module (of PyTorch): compares their GPU time, too"),
      groupings);
  add_own_option(*command, options->own);
  command->add_flag("--different-programs", options->different_programs,
                    "Compare although the captures are of different programs");
  add_output(*command, *options);
  command->add_option("--memory-limit", options->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &exit_code] {
    exit_code = within_memory(
        options->memory_gib, "these captures", [&] { return run(*options); },
        [](std::string const& line) { return fail(1, line); });
  });
}

}  // namespace gpuprof::host::command
