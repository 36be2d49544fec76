// SPDX-License-Identifier: Apache-2.0
// gpuprof whatif CAPTURE: what a step would take with a repair, or what it is sensitive to.
#include "base/readable.hpp"
#include "base/result.hpp"
#include "host/report/whatif_report.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "ranks/capture_names.hpp"
#include "report_format.hpp"
#include "roofline_of_capture.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "text/overview.hpp"
#include "whatif/read_ranks.hpp"
#include "whatif/repair_options.hpp"
#include "whatif/replay_check.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

// A repair takes three replays, and the table of sensitivities a hundred and more.
constexpr std::uint64_t max_items_of_table = 60'000;
constexpr std::size_t default_limit = 20;
constexpr double min_share_checked = 0.5;  // minimum share of points for a meaningful check

struct whatif_options {
  std::vector<std::string> files;
  std::string rank;
  steps_question steps;
  repair_options repairs;
  output_options output;
  std::size_t limit = default_limit;
  bool wide = false;
  double memory_gib = default_memory_gib;
};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof whatif: %s\n", message.c_str());
  return code;
}

/// Returns shares by kernel name, for kernels with counters and peaks.
std::map<std::string, double> reached_roofs_of(trace_contents& trace) {
  std::map<std::string, double> reached;
  for (auto const& line : roofline_of(trace))
    if (line.kind == "kernel" && line.row.of_roof && *line.row.of_roof > 0)
      reached.emplace(line.row.name, std::min(1.0, *line.row.of_roof));
  return reached;
}

void write_text(output_file const& out, report::whatif_report const& of, bool wide) {
  for (auto const& line : report::whatif_lines(of)) put_line(out.stream(), line);
  if (of.forecast) return;
  auto const table = report::whatif_table(of);
  out.put("\n ** " + table.title + ":\n\n");
  text::write_columns(
      table, text::time_unit::microseconds, [&](std::string_view text) { out.put(text); },
      page_of(out.stream(), wide));
}

int write(whatif_options const& options, report_format format, report::whatif_report const& of) {
  auto out =
      output_file::open(options.output.output, options.output.force_overwrite, options.files);
  if (!out) return fail(1, out.message());
  auto const sink = [&](std::string_view text) { out->put(text); };
  switch (format) {
    case report_format::table:
      write_text(*out, of, options.wide);
      break;
    case report_format::csv:
    case report_format::tsv:
      for (auto const& line : report::whatif_lines(of)) put_line(stderr, line);
      (format == report_format::csv ? text::write_csv : text::write_tsv)(report::whatif_table(of),
                                                                         {}, sink);
      break;
    case report_format::json:
      report::write_whatif_json(of, sink);
      break;
  }
  auto const written = out->finish();
  return written ? 0 : fail(1, written.message());
}

struct read_outcome {
  std::optional<steps_of_ranks> made;
  std::unique_ptr<trace_contents> trace;  // of the first capture
  std::string failure;
};

read_outcome read(whatif_options const& options) {
  read_outcome outcome;
  auto question = options.steps;
  question.max_items =
      repair_texts(options.repairs).empty() ? max_items_of_table : max_replayed_items;
  auto opened = capture::reader::open(options.files.front());
  if (!opened) {
    outcome.failure = opened.message();
    return outcome;
  }
  outcome.trace = std::make_unique<trace_contents>(*std::move(opened));
  if (options.files.size() > 1) {
    auto set = read_capture_set(options.files);
    if (!set) {
      outcome.failure = set.message();
      return outcome;
    }
    auto several = read_steps_of_ranks(*std::move(set), {question});
    if (several)
      outcome.made = *std::move(several);
    else
      outcome.failure = several.message();
    return outcome;
  }
  auto one = read_steps(*outcome.trace, question);
  if (one)
    outcome.made = {*std::move(one), text::overview_lines(outcome.trace->overview())};
  else
    outcome.failure = options.files.front() + ": " + one.message();
  return outcome;
}

/// Nothing: there is no such rank.
std::optional<std::uint32_t> rank_asked(whatif_options const& options,
                                        replay::recorded_steps const& steps) {
  if (options.rank.empty()) return replay::nothing;
  auto const& names = steps.rank_names;
  auto const known = std::find(names.begin(), names.end(), options.rank);
  if (known == names.end()) return std::nullopt;
  return static_cast<std::uint32_t>(known - names.begin());
}

int answer(whatif_options const& options, report_format format) {
  auto outcome = read(options);
  if (!outcome.made) return fail(1, outcome.failure);
  auto& [steps, heading] = *outcome.made;
  auto const rank = rank_asked(options, steps.steps);
  if (!rank)
    return fail(2, steps.steps.rank_names.empty() ? "--rank needs the captures of several ranks"
                                                  : "no capture is of rank " + options.rank);
  report::whatif_report report;
  report.heading = std::move(heading);
  report.step = steps.name;
  report.steps = steps.steps.steps;
  report.all_steps = steps.all_steps;
  report.remarks = steps.remarks;
  auto asked = options.repairs;
  if (asked.without_profiler) {
    auto const measured = outcome.trace->ns_a_launch();
    asked.traced_launch_ns = measured.value_or(text::least_ns_a_launch);
    report.remarks.push_back(
        measured
            ? "tracing made each launch about " + readable_time(*measured) + " longer here"
            : "tracing made each launch 523 ns to 2.5 us longer on other machines; the least is "
              "taken off here: compare with a run without the profiler");
  }
  replay::step_graph const graph(std::move(steps.steps));
  auto stated = repairs_of(asked, steps, graph, [&] { return reached_roofs_of(*outcome.trace); });
  if (stated.failure) return fail(stated.failure->wrong_options ? 2 : 1, stated.failure->message);
  for (auto& repair : stated.repairs) repair.scope.rank = *rank;
  report.repairs = repair_texts(options.repairs);
  if (!options.rank.empty()) report.repairs.push_back("--rank " + options.rank);
  auto const forecast = replay::foretell(graph, stated.repairs);
  report.recorded_ns = recorded_step_ns(graph);
  report.replayed_ns = forecast.now_ns;
  report.path = forecast.now;
  replay::step_edit checked(graph);
  if (checked.repeat_cpu_of_steps() >= min_share_checked)
    report.checked_ns = replay::step_ns(checked);
  if (auto const wrong = why_not_replayed(graph, report.replayed_ns); !wrong.empty())
    return fail(1, options.files.front() + ": " + wrong);
  if (format == report_format::json) {
    replay::step_edit const unchanged(graph);
    report.paths = replay::step_paths_of(unchanged, replay::replay(unchanged), 0);
  }
  if (stated.repairs.empty())
    report.sensitivities = replay::sensitivities_of(graph, options.limit);
  else
    report.forecast = forecast;
  return write(options, format, report);
}

int run(whatif_options& options) {
  auto const format = chosen_format(options.output);
  if (!format) return fail(2, format.message());
  if (auto const free = output_file::check(options.output.output, options.output.force_overwrite);
      !free)
    return fail(1, free.message());
  auto files = named_captures(options.files);
  if (!files) return fail(1, files.message());
  options.files = *std::move(files);
  if (!options.rank.empty() && repair_texts(options.repairs).empty())
    return fail(2, "--rank needs a repair, which then counts for this rank only");
  return within_memory(
      options.memory_gib, options.files.size() == 1 ? options.files.front() : "these captures",
      [&] { return answer(options, *format); },
      [](std::string const& line) { return fail(1, line); });
}

}  // namespace

void add_whatif(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<whatif_options>();
  auto* const command =
      app.add_subcommand("whatif", "Say what a step would take with a repair, or what holds it");
  command->footer(
      "The steps of the capture are replayed as a graph of what waited for what. Without a repair, "
      "the table shows how much shorter a step gets if a kernel, call or range takes 10 % less "
      "time, or none.\nExit status: 0 done, 1 it could not be replayed, 2 the command line is "
      "wrong.");
  command->add_option("CAPTURE", options->files, capture_names_help)->required();
  add_repair_options(*command, options->repairs);
  command
      ->add_option("--rank", options->rank,
                   "RANK: with captures of several ranks, what is stated counts for this one only")
      ->check(not_empty);
  command
      ->add_option("--step", options->steps.step_name,
                   "NAME: the NVTX range that is a step. Default: one that repeats")
      ->check(not_empty);
  command
      ->add_option("--filter-nvtx", options->steps.within,
                   "RANGE[@DOMAIN][/INDEX], or DOMAIN:RANGE as reports show it: only steps inside "
                   "of this NVTX range")
      ->check(not_empty);
  command->add_option("--limit", options->limit, "N: so many kernels, calls and ranges")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_output_options(*command, options->output);
  command->add_flag("--wide", options->wide, wide_help);
  command->add_option("--memory-limit", options->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace gpuprof::host::command
