// SPDX-License-Identifier: Apache-2.0
// gpuprof analyze FILE...: what slows a program down, where, and how much time a fix would save.
#include "analyze/analyze_output.hpp"
#include "analyze/asked_step.hpp"
#include "analyze/nsys_rules.hpp"
#include "analyze/read_advice.hpp"
#include "analyze/rule_options.hpp"
#include "filter_options.hpp"
#include "host/advice/rule.hpp"
#include "host/report/advice_words.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "ranks/capture_names.hpp"
#include "report_format.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <optional>

namespace gpuprof::host::command {
namespace {

struct analyze_options {
  std::vector<std::string> files;
  std::vector<std::string> rules, skipped, gates;
  std::string min_gain = "1%", by, step, output = "-";
  std::string format;  // empty: by the extension of `output`, else text
  filter_options filters;
  std::optional<std::size_t> limit;
  bool list_rules = false, force_overwrite = false, wide = false, whole_run = false;
  double memory_gib = default_memory_gib;
};

constexpr int gate_is_undecided = 3;

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof analyze: %s\n", message.c_str());
  return code;
}

using report::ledger_lines;
constexpr word_value<ledger_lines> groupings[] = {{"gpu", ledger_lines::gpus},
                                                  {"range", ledger_lines::ranges},
                                                  {"step", ledger_lines::steps},
                                                  {"rank", ledger_lines::ranks},
                                                  {"kind", ledger_lines::kinds}};
constexpr word_value<analyze_format> formats[] = {{"text", analyze_format::text},
                                                  {"csv", analyze_format::csv},
                                                  {"json", analyze_format::json},
                                                  {"markdown", analyze_format::markdown},
                                                  {"md", analyze_format::markdown}};

struct parsed_options {
  report::advice_text_options text;
  analyze_format format{};
  asked_rules rules;
  advice::advice_options advice;
  std::vector<gate> gates;
};

result<void> parse_rule_options(analyze_options const& options, parsed_options& parsed) {
  auto rules = parse_rules("--rule", options.rules, true);
  if (!rules) return error{rules.message()};
  parsed.rules = *std::move(rules);
  auto skipped = parse_rules("--skip-rule", options.skipped, false);
  if (!skipped) return error{skipped.message()};
  auto const share = parse_share("--min-gain", options.min_gain);
  if (!share) return error{share.message()};
  parsed.advice = {parsed.rules.ours, skipped->ours, *share};
  auto gates = parse_gates(options.gates);
  if (!gates) return error{gates.message()};
  parsed.gates = *std::move(gates);
  if (!parsed.rules.of_nsys.empty() && !parsed.rules.ours.empty())
    return error{"--rule " + parsed.rules.of_nsys.front().name +
                 " is a table of nsys; it does not go with --rule " + parsed.rules.ours.front()};
  if (!parsed.rules.of_nsys.empty() && !parsed.gates.empty())
    return error{"--fail-on does not go with --rule " + parsed.rules.of_nsys.front().name +
                 ", which is a table of nsys"};
  return {};
}

result<parsed_options> parse(analyze_options const& options) {
  parsed_options parsed;
  if (!options.by.empty()) {
    auto const by = choose("--by", options.by, groupings);
    if (!by) return error{by.message()};
    parsed.text.by = *by;
  }
  parsed.text.limit = options.limit;
  auto const format =
      options.format.empty()
          ? format_by_extension(options.output, formats).value_or(analyze_format::text)
          : choose("--format", options.format, formats);
  if (!format) return error{format.message()};
  parsed.format = *format;
  if (auto const read = parse_rule_options(options, parsed); !read) return error{read.message()};
  return parsed;
}

analyze_place place_of(analyze_options const& options, analyze_format format) {
  return {format, options.output, options.files, options.force_overwrite, options.wide};
}

int list_rules(analyze_options const& options, parsed_options const& parsed) {
  if (!parsed.rules.of_nsys.empty())
    return fail(2, "--list-rules describes rules of gpuprof; " + parsed.rules.of_nsys.front().name +
                       " is a table of nsys");
  auto out = output_file::open(options.output, options.force_overwrite);
  if (!out) return fail(1, out.message());
  auto const page = page_of(out->stream(), options.wide);
  auto const sink = [&out](std::string_view text) { out->put(text); };
  auto const is_text =
      parsed.format == analyze_format::text || parsed.format == analyze_format::markdown;
  std::vector<advice::rule const*> rules;
  for (auto const& name : parsed.rules.ours) rules.push_back(advice::find_rule(name));
  if (!rules.empty() && is_text) {
    for (auto const* rule : rules)
      sink((rule == rules.front() ? "" : "\n") + report::rule_description(*rule, page.width));
  } else {
    auto const table = report::rules_table(rules.empty() ? advice::all_rules() : rules);
    if (is_text)
      text::write_columns(table, {}, sink, page);
    else if (parsed.format == analyze_format::csv)
      text::write_csv(table, {}, sink);
    else
      text::write_json(table, {}, sink);
  }
  auto const written = out->finish();
  return written ? 0 : fail(1, written.message());
}

/// nsys' tables are for one capture without filters, because programs that read them expect that.
int write_nsys_rules(analyze_options const& options, parsed_options const& parsed) {
  if (options.files.size() > 1)
    return fail(2, "--rule " + parsed.rules.of_nsys.front().name + " takes a single capture");
  auto opened = capture::reader::open(options.files.front());
  if (!opened) return fail(1, opened.message());
  trace_contents trace(*std::move(opened));
  std::vector<text::table> tables;
  for (auto const& [name, rule_options] : parsed.rules.of_nsys) {
    auto made = nsys_rule_table(trace, name, rule_options);
    if (!made) return fail(1, made.message());
    tables.push_back(*std::move(made));
  }
  auto const written = write_nsys_tables(tables, place_of(options, parsed.format));
  return written ? 0 : fail(1, written.message());
}

/// Returns 1 if a gate fails, 3 if one cannot be decided, else 0. The reasons go to stderr.
int answer_of_gates(std::span<gate const> gates, advice::joined_advice const& advice) {
  auto const answer = ask(gates, advice);
  for (auto const& line : answer.failed) fail(1, "--fail-on " + line);
  for (auto const& line : answer.undecided) fail(1, "--fail-on cannot be decided: " + line);
  if (!answer.failed.empty()) return 1;
  return answer.undecided.empty() ? 0 : gate_is_undecided;
}

int analyze(analyze_options const& options, parsed_options const& parsed) {
  auto const place = place_of(options, parsed.format);
  if (auto const writable = output_file::check(options.output, options.force_overwrite); !writable)
    return fail(1, writable.message());
  auto const outcome = read_advice({.captures = options.files,
                                    .filters = options.filters,
                                    .step = parse_asked_step(options.step),
                                    .rules = parsed.advice,
                                    .whole_run = options.whole_run});
  if (!outcome.made) return fail(outcome.failure.wrong_options ? 2 : 1, outcome.failure.message);
  auto const written = write_advice(*outcome.made, parsed.text, place);
  if (!written) return fail(1, written.message());
  return answer_of_gates(parsed.gates, outcome.made->advice);
}

int run(analyze_options& options) {
  auto const parsed = parse(options);
  if (!parsed) return fail(2, parsed.message());
  if (options.list_rules) return list_rules(options, *parsed);
  if (options.files.empty())
    return fail(2, "there is no capture to analyze: gpuprof analyze [OPTION]... CAPTURE...");
  auto files = named_captures(options.files);
  if (!files) return fail(1, files.message());
  options.files = *std::move(files);
  if (parse_asked_step(options.step).is_one() && !filters_line(options.filters).empty())
    return fail(2, "--step " + options.step + " asks for one step; filters do not go with it");
  auto const several = options.files.size() > 1;
  auto const by = parsed->text.by;
  if (by == ledger_lines::ranks && !several)
    return fail(2, "--by rank takes several captures, those of the ranks of a job");
  if (several &&
      (by == ledger_lines::ranges || by == ledger_lines::steps || by == ledger_lines::kinds))
    return fail(2, "--by " + options.by + " takes a single capture; of several: gpu or rank");
  return within_memory(
      options.memory_gib, several ? "these captures" : options.files.front(),
      [&] {
        return parsed->rules.of_nsys.empty() ? analyze(options, *parsed)
                                             : write_nsys_rules(options, *parsed);
      },
      [](std::string const& line) { return fail(1, line); });
}

void add_rule_options(CLI::App& command, std::shared_ptr<analyze_options> const& options) {
  auto const add_list = [&](char const* name, std::vector<std::string>& to, char const* help) {
    auto* const option = command.add_option(name, to, help);
    option->delimiter(',')->expected(1)->allow_extra_args(false)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
    return option;
  };
  complete_with(add_list("-r,--rule", options->rules,
                         "NAME[,NAME...]: look at these rules alone; the rules of nsys analyze "
                         "(gpu_gaps, gpu_gaps:gap=100:rows=10, ...) give their tables"),
                {.words = rule_names(true), .is_list = true});
  complete_with(add_list("--skip-rule", options->skipped, "NAME[,NAME...]: not at these"),
                {.words = rule_names(false), .is_list = true});
  command
      .add_option("--min-gain", options->min_gain,
                  "SHARE: of the run; findings that would save less are only named")
      ->capture_default_str();
  add_list("--fail-on", options->gates,
           "RULE[>SHARE][,...]: end with 1 where this rule, or any, would save more than this "
           "share of the run, with 3 where it was not looked at");
  command.add_flag("--list-rules", options->list_rules,
                   "Show all rules; with --rule, what is known of that one");
}

void add_output(CLI::App& command, std::shared_ptr<analyze_options> const& options) {
  complete_with(command.add_option("-f,--format", options->format,
                                   "text, csv, json or markdown (at most 60 lines). Default: as "
                                   "the extension of --output says, else text"),
                formats);
  auto* const output =
      command.add_option("-o,--output", options->output, "-: standard output; else this file");
  output->check(name_for_output)->capture_default_str();
  complete_with(output, {.words = {}, .is_file = true});
  command.add_flag("--force-overwrite", options->force_overwrite, "Replace an existing file");
  command.add_option("--limit", options->limit,
                     "N: at most so many findings, 0 for all; 10, and a hundred lines, unless "
                     "this is given");
  command.add_flag("--wide", options->wide, wide_help);
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<analyze_options>();
  auto* const command = app.add_subcommand(
      "analyze", "Say what holds a program back, and how much time a fix would save");
  command->footer(
      "Potential gains are intervals: what nine of ten fixes save at least, and the best case; "
      "what stands behind them (\"if ...\") is taken for granted.\nExit status: 0 done, 1 it "
      "could not be done or --fail-on says no, 2 the command line is wrong, 3 --fail-on cannot be "
      "decided.");
  command->add_option("FILE", options->files, capture_names_help);
  add_rule_options(*command, options);
  complete_with(command->add_option("--by", options->by,
                                    "gpu, range (NVTX), step, or rank of several captures: show "
                                    "the time ledger by that; kind: the time of kernels by the "
                                    "kind of their work"),
                groupings);
  command->add_option("--step", options->step, step_help);
  command->add_flag("--all", options->whole_run,
                    "The whole run or phase: also what is before and after the steps, and their "
                    "warm-up");
  add_output(*command, options);
  add_filter_options(*command, options->filters);
  command->add_option("--memory-limit", options->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace gpuprof::host::command
