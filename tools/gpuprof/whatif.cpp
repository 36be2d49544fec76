// SPDX-License-Identifier: Apache-2.0
// gpuprof whatif CAPTURE: what a step would take with a repair, or what it is sensitive to.
#include "host/report/whatif_report.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "ranks/capture_names.hpp"
#include "report_format.hpp"
#include "roofline_of_capture.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "text/overview.hpp"
#include "whatif/read_steps.hpp"
#include "whatif/repair_options.hpp"
#include "whatif/replay_check.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

namespace gpuprof::host::command {
namespace {

// A repair takes three replays, and the table of sensitivities a hundred and more.
constexpr std::uint64_t max_items_of_table = 60'000;
constexpr std::size_t default_limit = 20;
constexpr double min_share_checked = 0.5;  // minimum share of points for a meaningful check

struct whatif_options {
  std::string file;
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
  auto const out = output_file::open(options.output.output, options.output.force_overwrite,
                                     std::span(&options.file, 1));
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

int answer(whatif_options const& options, report_format format) {
  auto opened = capture::reader::open(options.file);
  if (!opened) return fail(1, opened.message());
  trace_contents trace(*std::move(opened));
  auto question = options.steps;
  question.max_items =
      repair_texts(options.repairs).empty() ? max_items_of_table : max_replayed_items;
  auto read = read_steps(trace, question);
  if (!read) return fail(1, options.file + ": " + read.message());
  report::whatif_report report;
  report.heading = text::overview_lines(trace.overview());
  report.step = read->name;
  report.steps = read->steps.steps;
  report.all_steps = read->all_steps;
  report.remarks = read->remarks;
  if (options.repairs.without_profiler)
    report.remarks.emplace_back(
        "0.52 us a launch is what tracing adds on a quiet H100; where machines are shared it can "
        "be "
        "several times that: compare with a run without the profiler");
  replay::step_graph const graph(std::move(read->steps));
  auto const stated =
      repairs_of(options.repairs, *read, graph, [&] { return reached_roofs_of(trace); });
  if (stated.failure) return fail(stated.failure->wrong_options ? 2 : 1, stated.failure->message);
  report.repairs = repair_texts(options.repairs);
  auto const forecast = replay::foretell(graph, stated.repairs);
  report.recorded_ns = recorded_step_ns(graph);
  report.replayed_ns = forecast.now_ns;
  report.path = forecast.now;
  replay::step_edit checked(graph);
  if (checked.repeat_cpu_of_steps() >= min_share_checked)
    report.checked_ns = replay::step_ns(checked);
  if (auto const wrong = why_not_replayed(graph, report.replayed_ns); !wrong.empty())
    return fail(1, options.file + ": " + wrong);
  if (format == report_format::json) {
    replay::step_edit const unchanged(graph);
    report.paths = replay::step_paths_of(unchanged, replay::replay(unchanged), 0);
  }
  if (report.repairs.empty())
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
  auto const files = named_captures(std::span(&options.file, 1));
  if (!files) return fail(1, files.message());
  if (files->size() != 1) return fail(2, "takes a single capture");
  options.file = files->front();
  return within_memory(
      options.memory_gib, options.file, [&] { return answer(options, *format); },
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
  command->add_option("CAPTURE", options->file, "A capture with steps, made by gpuprof profile")
      ->required();
  add_repair_options(*command, options->repairs);
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
