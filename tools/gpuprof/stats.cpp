// SPDX-License-Identifier: Apache-2.0
// gpuprof stats FILE...: tables of the contents of captures, with the names and columns of nsys
// stats.
#include "filter_options.hpp"
#include "host/report/summed_table.hpp"
#include "memory_limit.hpp"
#include "ranks/capture_names.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"
#include "ranks/rank_reports.hpp"
#include "report_format.hpp"
#include "stats_output.hpp"
#include "stats_reports.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "texts.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

struct rank_stats_inputs {
  std::vector<chosen_report> reports;
  filter_options filters;
  range_scope scope = range_scope::process;
  std::string step;  // as in stats_inputs
};

struct rank_stats {
  std::vector<finished_report> reports;
  std::vector<std::string> heading;
  std::vector<std::string> remarks;  // captures left out, with the reason
};

/// Adds up reports if possible; others list the lines of each rank one after the other.
struct rank_stats_outcome {
  std::optional<rank_stats> made;
  stats_failure failure;
};

constexpr std::size_t not_there = ~std::size_t{0};

std::size_t place_of(std::string const& name, std::vector<text::column> const& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return i;
  return not_there;
}

/// Passes on the lines of a rank, in the columns that all ranks share.
void take_lines(text::table const& from, std::string_view rank,
                std::vector<text::column> const& columns,
                std::function<void(text::row const&)> const& take) {
  std::vector<std::size_t> places;
  for (auto const& column : columns) places.push_back(place_of(column.name, from.columns));
  from.each_row([&](text::row const& cells) {
    text::row line = {rank};
    for (auto const place : places)
      line.push_back(place != not_there ? cells[place] : text::cell());
    take(line);
  });
}

/// For a report that cannot be added up, shows the lines of each rank one after the other.
///
/// Some reports have certain columns only if a capture has values for them.
void add_columns(std::vector<text::column>& to, std::vector<text::column> const& more) {
  for (auto const& column : more)
    if (place_of(column.name, to) == not_there) to.push_back(column);
}

/// Name, title and columns are those of `like`. The captures are read again whenever rows are
/// needed, so that only one is in memory at a time.
text::table lines_of_each(text::table const& like, capture_set const& set,
                          chosen_report const& report, rank_stats_inputs const& inputs) {
  text::table table{like.name, like.title, {{"Rank", text::column_kind::text}}, {}};
  table.columns.insert(table.columns.end(), like.columns.begin(), like.columns.end());
  table.each_row = [captures = set.captures, columns = like.columns, report,
                    inputs](auto const& take) {
    for (auto const& capture : captures) {
      auto const outcome =
          make_stats({capture.path, {report}, inputs.filters, inputs.scope, inputs.step});
      if (!outcome.made || !outcome.made->reports().front().missing.empty()) continue;
      take_lines(outcome.made->reports().front().table, capture.label, columns, take);
    }
  };
  return table;
}

class maker {
 public:
  maker(capture_set const& set, rank_stats_inputs const& inputs) : set_(set), inputs_(inputs) {
    for (auto const& report : inputs.reports) {
      if (!is_over_ranks(report.kind)) {
        ordinary_.push_back(report);
        continue;
      }
      wants_digests_ = true;
      wants_.ranges = wants_.ranges || report.kind == report_kind::ranks_range_sum;
      wants_.styles.insert(report.names);
    }
    joined_.resize(ordinary_.size());
  }

  rank_stats_outcome make();

 private:
  struct joined_report {
    report::summed_table sums;
    text::table like;  // for a report that is not added up
    finished_report alone;
    rank_remarks missing, notes;
    bool is_there = false, is_summed = false;
  };

  stats_failure read(ranked_capture const& capture);
  stats_failure read_ordinary(ranked_capture const& capture);
  stats_failure read_digest_of(ranked_capture const& capture);
  finished_report finish(chosen_report const& report, joined_report& joined);

  capture_set const& set_;
  rank_stats_inputs const& inputs_;
  std::vector<chosen_report> ordinary_;
  std::vector<joined_report> joined_;
  digest_wants wants_;
  bool wants_digests_ = false;
  joined_heading heading_;
  text::overview last_overview_;
  std::vector<ranked_capture> used_;
  std::vector<std::string> labels_;  // of the captures in used_
  std::vector<rank_digest> digests_;
};

stats_failure maker::read(ranked_capture const& capture) {
  if (!ordinary_.empty())
    if (auto failure = read_ordinary(capture); !failure.message.empty()) return failure;
  if (wants_digests_)
    if (auto failure = read_digest_of(capture); !failure.message.empty()) return failure;
  heading_.add(last_overview_, capture);
  used_.push_back(capture);
  labels_.push_back(capture.label);
  return {};
}

stats_failure maker::read_ordinary(ranked_capture const& capture) {
  auto outcome =
      make_stats({capture.path, ordinary_, inputs_.filters, inputs_.scope, inputs_.step});
  if (!outcome.made) return outcome.failure;
  auto const made = std::make_shared<stats_result>(*std::move(outcome.made));
  for (std::size_t i = 0; i < joined_.size(); ++i) {
    auto const& report = made->reports()[i];
    auto& joined = joined_[i];
    if (set_.captures.size() == 1) {
      joined.alone = report;
      joined.alone.table.each_row = [made, each = report.table.each_row](auto const& take) {
        each(take);
      };
      continue;
    }
    joined.like.name = report.table.name;
    joined.like.title = report.table.title;
    add_columns(joined.like.columns, report.table.columns);
    for (auto const& note : report.notes) joined.notes.add(note, capture.label);
    if (report::summed_table::takes(report.table)) {
      joined.is_summed = true;
      joined.sums.add(report.table, used_.size());
    }
    if (report.missing.empty())
      joined.is_there = true;
    else
      joined.missing.add(report.missing, capture.label);
  }
  last_overview_ = made->overview();
  return {};
}

stats_failure maker::read_digest_of(ranked_capture const& capture) {
  auto opened = capture::reader::open(capture.path);
  if (!opened) return {opened.message(), false};
  trace_contents trace(std::move(*opened));
  selection wanted;
  if (auto const failed = narrow(wanted, inputs_.filters, trace, capture.path, inputs_.scope))
    return {failed->message, failed->wrong_options};
  digests_.push_back(read_digest(trace, wanted, inputs_.scope, wants_));
  last_overview_ = trace.overview();
  return {};
}

finished_report maker::finish(chosen_report const& report, joined_report& joined) {
  if (set_.captures.size() == 1) return std::move(joined.alone);
  finished_report finished;
  auto const missing = joined.missing.lines(used_.size());
  finished.table = joined.is_summed ? joined.sums.finish(labels_)
                                    : lines_of_each(joined.like, set_, report, inputs_);
  if (!joined.is_there) {
    finished.missing = missing.front();
    if (!joined.is_summed) finished.table.each_row = [](auto const&) {};
    return finished;
  }
  finished.notes = joined.notes.lines(used_.size());
  finished.notes.insert(finished.notes.end(), missing.begin(), missing.end());
  return finished;
}

rank_stats_outcome maker::make() {
  rank_stats made;
  for (auto const& capture : set_.captures) {
    auto failure = read(capture);
    if (failure.wrong_options) return {{}, std::move(failure)};
    if (failure.message.empty()) continue;
    made.remarks.push_back(failure.message);
  }
  if (used_.empty())
    return {{},
            {made.remarks.front() +
                 (set_.captures.size() > 1 ? "; nor do the other captures serve" : ""),
             false}};
  for (auto& remark : made.remarks) remark += "; the other captures are used";
  std::size_t next = 0;
  for (auto const& report : inputs_.reports) {
    auto finished = is_over_ranks(report.kind) ? report_over_ranks(report, used_, digests_)
                                               : finish(report, joined_[next++]);
    name_missing(finished, report.kind);
    made.reports.push_back(std::move(finished));
  }
  made.heading = set_.captures.size() == 1 ? overview_lines(last_overview_) : heading_.lines();
  return {std::move(made), {}};
}

rank_stats_outcome make_rank_stats(capture_set const& set, rank_stats_inputs const& inputs) {
  return maker(set, inputs).make();
}

struct stats_options {
  std::vector<std::string> files;
  std::vector<std::string> reports;  // empty: the default reports below
  std::vector<std::string> formats;  // empty: by the extension of `output`, else table
  std::string output = "-";
  bool force_overwrite = false;
  filter_options filters;
  std::string range_scope = "process";
  std::string step;
  std::string unit = "ns";
  bool wide = false;
  std::optional<std::size_t> limit;
  double memory_gib = default_memory_gib;
};

std::vector<std::string> reports_of_one() {
  return {"nvtx_sum", "cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum",
          "cuda_gpu_mem_size_sum"};
}
std::vector<std::string> reports_of_ranks() {
  return {"ranks_sum", "ranks_range_sum", "ranks_kern_sum", "ranks_collective_sum"};
}

using text::time_unit;
constexpr word_value<time_unit> units[] = {
    {"ns", time_unit::nanoseconds},    {"us", time_unit::microseconds},
    {"ms", time_unit::milliseconds},   {"s", time_unit::seconds},
    {"nsec", time_unit::nanoseconds},  {"usec", time_unit::microseconds},
    {"msec", time_unit::milliseconds}, {"sec", time_unit::seconds},
    {"seconds", time_unit::seconds}};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof stats: %s\n", message.c_str());
  return code;
}

/// "." means the capture's own name, as in nsys.
std::string output_base(stats_options const& options) {
  if (options.output != ".") return options.output;
  return std::filesystem::path(options.files.front()).replace_extension().string();
}

result<std::vector<chosen_report>> wanted_reports(stats_options const& options) {
  auto names = options.reports;
  if (names.empty()) names = options.files.size() > 1 ? reports_of_ranks() : reports_of_one();
  std::vector<chosen_report> wanted;
  for (auto const& name : names) {
    auto const report = parse_report(name);
    if (!report) return error{report.message()};
    wanted.push_back(*report);
  }
  return wanted;
}

result<stats_output_options> output_of(stats_options const& options) {
  stats_output_options output;
  output.base = output_base(options);
  output.overwrite = options.force_overwrite;
  output.captures = options.files;
  output.wide = options.wide;
  output.limit = options.limit;
  auto const by_name = format_by_extension(options.output, report_formats);
  if (by_name) {
    output.file = output.base;
    output.base.resize(output.base.rfind('.'));
  }
  if (options.formats.empty()) output.formats.push_back(by_name.value_or(report_format::table));
  for (auto const& word : options.formats) {
    auto const format =
        choose("--format", word == "column" ? "table" : word, report_formats);  // as in 0.1
    if (!format) return error{format.message()};
    output.formats.push_back(*format);
  }
  auto const unit = choose("--timeunit", options.unit, units);
  if (!unit) return error{unit.message()};
  output.unit = *unit;
  return output;
}

int write(std::vector<finished_report> const& reports, std::vector<std::string> heading,
          stats_options const& options, stats_output_options const& output) {
  auto const filters = filters_line(options.filters);
  if (!filters.empty()) heading.insert(heading.begin() + 1, filters);
  auto const written = write_reports(reports, heading, output);
  if (!written) return fail(1, written.message());
  auto const is_missing = [](finished_report const& report) { return !report.missing.empty(); };
  if (!filters.empty() && std::all_of(reports.begin(), reports.end(), is_missing))
    return fail(1, (options.files.size() == 1 ? options.files.front() : "the captures") +
                       ": nothing passes the filters (" + filters + ")");
  return 0;
}

int run_over_ranks(stats_options const& options, std::vector<chosen_report> reports,
                   range_scope scope, stats_output_options const& output) {
  auto const set = read_capture_set(options.files);
  if (!set) return fail(1, set.message());
  for (auto const& line : set->remarks) fail(0, line);
  auto const outcome =
      make_rank_stats(*set, {std::move(reports), options.filters, scope, options.step});
  if (!outcome.made) return fail(outcome.failure.wrong_options ? 2 : 1, outcome.failure.message);
  for (auto const& line : outcome.made->remarks) fail(0, line);
  return write(outcome.made->reports, outcome.made->heading, options, output);
}

int run(stats_options const& options) {
  auto const scope = choose("--range-scope", options.range_scope, range_scopes);
  if (!scope) return fail(2, scope.message());
  auto const reports = wanted_reports(options);
  if (!reports) return fail(2, reports.message());
  if (options.output == "." && options.files.size() > 1)
    return fail(2, "-o . goes with a single capture; name a BASE for files of several");
  auto const output = output_of(options);
  if (!output) return fail(2, output.message());
  auto const over_ranks = std::any_of(reports->begin(), reports->end(),
                                      [](auto const& r) { return is_over_ranks(r.kind); });
  if (options.files.size() > 1 || over_ranks)
    return run_over_ranks(options, *reports, *scope, *output);

  auto const outcome =
      make_stats({options.files.front(), *reports, options.filters, *scope, options.step});
  if (!outcome.made) return fail(outcome.failure.wrong_options ? 2 : 1, outcome.failure.message);
  return write(outcome.made->reports(), overview_lines(outcome.made->overview()), options, *output);
}

int find_and_run(stats_options& options) {
  auto files = named_captures(options.files);
  if (!files) return fail(1, files.message());
  options.files = *std::move(files);
  return within_memory(
      options.memory_gib, options.files.size() == 1 ? options.files.front() : "these captures",
      [&] { return run(options); }, [](std::string const& line) { return fail(1, line); });
}

}  // namespace

void add_stats(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<stats_options>();
  auto* const stats = app.add_subcommand("stats", "Print tables of what captures hold");
  stats->footer(
      "Reports: " + report_names() +
      "\nReports of CUDA API calls need a capture made with --trace=cuda-api.\nExit status: 0 "
      "done, 1 it could not be done or nothing passes the filters, 2 the command line is wrong.");
  auto const add_list = [&](char const* names, std::vector<std::string>& to, char const* help) {
    auto* const option = stats->add_option(names, to, help);
    option->delimiter(',')->expected(1)->allow_extra_args(false)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
    return option;
  };
  stats->add_option("FILE", options->files, capture_names_help)->required();
  complete_with(add_list("-r,--report", options->reports,
                         ("NAME[:base|:mangled|:kind][,NAME...]: reports to print; kernels go by "
                          "their full, base or "
                          "mangled name, or by the kind of their work. Default: " +
                          joined(reports_of_one(), ", ") + "; of several captures " +
                          joined(reports_of_ranks(), ", "))
                             .c_str()),
                {.words = report_name_list(), .is_list = true});
  complete_with(
      add_list("-f,--format", options->formats,
               "table, csv, tsv or json; a list gives one format to each report. Default: as the "
               "extension of --output says, else table"),
      report_formats);
  auto* const output = stats->add_option(
      "-o,--output", options->output,
      "-: standard output; BASE: files BASE_REPORT.EXTENSION; .: the same beside FILE; "
      "NAME.csv (or .tsv, .json, .txt): this file for a single report");
  output->check(name_for_output)->capture_default_str();
  complete_with(output, {.words = {}, .is_file = true});
  stats->add_flag("--force-overwrite", options->force_overwrite, "Replace existing output files");
  add_filter_options(*stats, options->filters);
  auto* const scope = stats->add_option(
      "--range-scope", options->range_scope,
      std::string(range_scope_help) +
          ". Of nvtx_metrics_sum and --filter-nvtx; other reports are as in nsys");
  scope->capture_default_str();
  complete_with(scope, range_scopes);
  stats
      ->add_option(
          "--step", options->step,
          "NAME: the NVTX range that is a step of critical_path. Default: one that repeats")
      ->check(not_empty);
  auto* const unit =
      stats->add_option("--timeunit", options->unit, "ns, us, ms or s: the unit of all times");
  unit->capture_default_str();
  complete_with(unit, {.words = {"ns", "us", "ms", "s"}});
  stats->add_option("--limit", options->limit,
                    "N: at most so many lines of a report, 0 for all; 20 on a terminal, else all");
  stats->add_flag("--wide", options->wide, wide_help);
  stats->add_option("--memory-limit", options->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  stats->callback([options, &exit_code] { exit_code = find_and_run(*options); });
}

}  // namespace gpuprof::host::command
