// SPDX-License-Identifier: Apache-2.0
// gpuprof whatif CAPTURE: what a step would take with a repair, or what it is sensitive to.
#include "base/readable.hpp"
#include "base/result.hpp"
#include "host/replay/joined_ranks.hpp"
#include "host/report/whatif_report.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "ranks/capture_names.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"
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
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

struct steps_of_ranks {
  steps_of_capture read;
  std::vector<std::string> heading;
};

class ranks_reader {
 public:
  ranks_reader(capture_set set, steps_question const& question)
      : set_(std::move(set)), question_(question) {
    question_.max_items /= set_.captures.size();
    made_.read.remarks = set_.remarks;
  }

  result<steps_of_ranks> run() {
    if (set_.captures.size() < 2)
      return error{"these captures are of one rank; name one of them, or those of all ranks"};
    if (auto const digested = read_digests(); !digested) return error{digested.message()};
    auto const job = collectives_of(set_.captures, digests_, kernel_name_style::demangled);
    if (job.empty())
      return error{
          "no rank ran a collective, so nothing says how the ranks wait for each other; ask of one "
          "capture"};
    for (std::size_t i = 0; i < set_.captures.size(); ++i)
      if (auto const read = read_rank(i, job); !read)
        return error{"rank " + set_.captures[i].label + ": " + read.message()};
    finish(job.tolerance_ns);
    return std::move(made_);
  }

 private:
  result<void> read_digests() {
    for (auto const& capture : set_.captures) {
      auto opened = capture::reader::open(capture.path);
      if (!opened) return error{opened.message()};
      trace_contents trace(*std::move(opened));
      digests_.push_back(
          read_digest(trace, {}, range_scope::process, {.styles = {kernel_name_style::demangled}}));
      heading_.add(trace.overview(), capture);
    }
    return {};
  }

  result<void> read_rank(std::size_t rank, job_collectives const& job) {
    auto opened = capture::reader::open(set_.captures[rank].path);
    if (!opened) return error{opened.message()};
    trace_contents trace(*std::move(opened));
    auto question = question_;
    duration_ns const ahead{job.clocks.of_rank[rank]};
    if (rank > 0) {
      question.like = chosen_;
      question.like->time = {chosen_.time.begin + ahead, chosen_.time.end + ahead};
    }
    auto read = read_steps(trace, question);
    if (!read) return error{read.message()};
    for (auto const& remark : read->remarks) remarks_.add(remark, set_.captures[rank].label);
    for (std::size_t i = 0; i < read->raw_work_names.size(); ++i)
      raw_names_.try_emplace(read->steps.work_names[i], read->raw_work_names[i]);
    auto const begin_ns = static_cast<std::int64_t>(read->begin.value) - ahead.value;
    ranks_.push_back({set_.captures[rank].label, begin_ns, std::move(read->steps)});
    if (rank > 0) return {};
    // The clock of the first host is the reference.
    chosen_ = {read->could_be_chosen,
               read->first_step,
               ranks_.front().steps.steps,
               {read->begin, read->end}};
    auto remarks = std::move(made_.read.remarks);
    made_.read = *std::move(read);
    made_.read.remarks = std::move(remarks);
    return {};
  }

  void finish(std::uint64_t tolerance_ns) {
    auto joined = replay::join_ranks(std::move(ranks_), tolerance_ns);
    auto& read = made_.read;
    read.steps = std::move(joined.steps);
    read.raw_work_names.clear();
    for (auto const& name : read.steps.work_names)
      read.raw_work_names.push_back(raw_names_.at(name));
    for (auto& line : remarks_.lines(set_.captures.size())) read.remarks.push_back(std::move(line));
    if (joined.unmatched > 0)
      read.remarks.push_back(counted(joined.unmatched, "kernels") +
                             " of collectives have no counterpart on the other ranks: they wait as "
                             "long as they did");
    made_.heading = heading_.lines();
  }

  capture_set set_;
  steps_question question_;
  std::vector<rank_digest> digests_;
  joined_heading heading_;
  rank_remarks remarks_;
  steps_of_other_rank chosen_;  // of the first rank
  std::vector<replay::steps_of_rank> ranks_;
  std::map<std::string, std::string> raw_names_;  // of work, by its name
  steps_of_ranks made_;
};

/// The steps of the first rank are chosen as for one capture; those of the others have the same
/// numbers, or are of the same time if there are not equally many. Returns an error that says which
/// rank cannot be replayed, and why.
result<steps_of_ranks> read_ranks(std::vector<std::string> const& paths,
                                  steps_question const& question) {
  auto set = read_capture_set(paths);
  if (!set) return error{set.message()};
  return ranks_reader(*std::move(set), question).run();
}

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
    auto several = read_ranks(options.files, question);
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
