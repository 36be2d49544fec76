// SPDX-License-Identifier: Apache-2.0
// gpuprof roofline FILE...: what kernels and ranges of captures achieved, compared with what the
// GPU can do.
#include "base/rank_files.hpp"
#include "base/readable.hpp"
#include "base/result.hpp"
#include "filter_options.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/report/roofline_report.hpp"
#include "host/report/summary_tables.hpp"
#include "lines/source_groups.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "ranks/capture_names.hpp"
#include "ranks/capture_set.hpp"
#include "report_format.hpp"
#include "roofline_facts.hpp"
#include "roofline_of_capture.hpp"
#include "step_lines.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "text/overview.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::command {
namespace {

/// Compares the times from the start of the first to the end of the last capture window.
bool ran_at_the_same_time(trace_contents& one, trace_contents& other) {
  return one.origin() <= other.last_moment() && other.origin() <= one.last_moment();
}

/// Command lines are not compared, because launchers pass each rank its number.
bool is_of_the_same_job(trace_contents const& one, trace_contents const& other) {
  for (auto const* const fact : {"environment.WORLD_SIZE", "environment.SLURM_JOB_ID"})
    if (one.fact(fact) != other.fact(fact)) return false;
  return true;
}

/// Uses counters that other ranks of a job have read for the same kernels.
///
/// Ranks take turns reading, so the values of one also apply to the same kernels of the others.
/// Returns a line for each capture that contributed.
std::vector<std::string> read_other_ranks(std::span<rank_file const> others, trace_contents& trace,
                                          roofline_reading& read) {
  std::vector<std::string> lines;
  for (auto const& other : others) {
    auto opened = capture::reader::open(other.path);
    if (!opened || opened->row_count<read_launch_record>() == 0) continue;
    trace_contents theirs(*std::move(opened));
    if (!is_of_the_same_job(trace, theirs) || !ran_at_the_same_time(trace, theirs)) continue;
    roofline_reading reading(theirs, std::nullopt, range_scope::process);
    read_alone(theirs, reading, false);
    if (auto const kernels = read.take_readings(reading, other.rank); kernels > 0)
      lines.push_back("readings of " + counted(kernels, "kernels") + " are those of rank " +
                      std::to_string(other.rank) + ": " + other.path);
  }
  return lines;
}

enum class roofline_format { table, csv, tsv, json, svg };

struct roofline_place {
  roofline_format format{};
  std::string output;   // "-": standard output
  std::string capture;  // output must not replace it
  bool overwrite = false;
  bool wide = false;  // names are not shortened on narrow terminals
};

void write_to(output_file const& out, std::span<roofline_row const> lines,
              report::roofline_lines of, report::roofline_facts const& facts, std::size_t left_out,
              roofline_format format, bool wide) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  auto* const beside = format == roofline_format::table ? out.stream() : stderr;
  if (format != roofline_format::json)  // JSON contains them
    for (auto const& line : facts.summary) put_line(beside, line);
  switch (format) {
    case roofline_format::table: {
      auto const table = report::roofline_table(lines, of);
      out.put("\n ** " + table.title + ":\n\n");
      text::write_columns(table, {}, sink, page_of(out.stream(), wide));
      if (report::has_unsure_figures(lines))
        put_line(out.stream(),
                 std::string(" ") + report::unsure_mark +
                     ": the standard error is above 5 % of the figure; -f csv and -f json have it");
      if (report::has_limits(lines))
        put_line(
            out.stream(),
            std::string(" ") + report::limit_mark +
                ": an upper limit: what the instructions compute if all lanes of the warps do. "
                "-f csv and -f json have flops_low and flops_high; gpuprof profile --metrics "
                "exact counts");
      if (left_out > 0)
        out.put(" ... and " + readable_count(left_out) + " more; --limit 0 shows all\n");
      return;
    }
    case roofline_format::csv:
      return text::write_csv(report::roofline_csv_table(lines, of), {}, sink);
    case roofline_format::tsv:
      return text::write_tsv(report::roofline_csv_table(lines, of), {}, sink);
    case roofline_format::json:
      return report::write_roofline_json(lines, of, facts, sink);
    case roofline_format::svg:
      return report::write_roofline_svg(lines, of, facts, sink);
  }
}

/// Writes a roofline to the output and in the format that the user chose. First lines and notes
/// precede tables, are part of JSON, and go to stderr for other formats.
result<void> write_roofline(std::span<roofline_row const> lines, report::roofline_lines of,
                            report::roofline_facts const& facts, std::size_t left_out,
                            roofline_place const& place) {
  auto out = output_file::open(place.output, place.overwrite, {&place.capture, 1});
  if (!out) return error{out.message()};
  write_to(*out, lines, of, facts, left_out, place.format, place.wide);
  return out->finish();
}

struct roofline_options {
  std::vector<std::string> files;
  std::string file;  // the current one of these
  std::string by = "kernel", range_scope = "process", output = "-";
  std::string format;  // empty: by the extension of `output`, else table
  filter_options filters;
  std::vector<std::string> own;
  bool force_overwrite = false;
  bool wide = false;
  std::optional<std::int64_t> limit;
  double memory_gib = default_memory_gib;
};

constexpr std::int64_t lines_for_reading = 30;

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof roofline: %s\n", message.c_str());
  return code;
}

using report::roofline_lines;
constexpr word_value<roofline_lines> groupings[] = {
    {"kernel", roofline_lines::kernels},       {"kind", roofline_lines::kinds},
    {"signature", roofline_lines::signatures}, {"range", roofline_lines::ranges},
    {"step", roofline_lines::steps},           {"graph", roofline_lines::graphs},
    {"line", roofline_lines::lines},           {"function", roofline_lines::functions},
    {"file", roofline_lines::files},           {"module", roofline_lines::modules}};
constexpr word_value<roofline_format> formats[] = {{"table", roofline_format::table},
                                                   {"csv", roofline_format::csv},
                                                   {"tsv", roofline_format::tsv},
                                                   {"json", roofline_format::json},
                                                   {"svg", roofline_format::svg}};

struct parsed_options {
  roofline_lines by{};
  range_scope scope{};
  roofline_format format{};
};

result<parsed_options> parse(roofline_options const& options) {
  auto const by = choose("--by", options.by, groupings);
  if (!by) return error{by.message()};
  auto const scope = choose("--range-scope", options.range_scope, range_scopes);
  if (!scope) return error{scope.message()};
  auto const format =
      options.format.empty()
          ? format_by_extension(options.output, formats).value_or(roofline_format::table)
          : choose("--format", options.format, formats);
  if (!format) return error{format.message()};
  if (!options.own.empty() && (!report::are_in_source(*by) || *by == roofline_lines::modules))
    return error{"--own goes with --by line, function or file"};
  return parsed_options{*by, *scope, *format};
}

/// Returns why there are no lines of the requested kind; empty if there are some.
std::string nothing_to_show(roofline_options const& options, roofline_lines by,
                            trace_contents& trace, roofline_reading const& read, bool has_filters) {
  auto const is_of_ranges = by == roofline_lines::ranges || by == roofline_lines::steps;
  auto const is_declared =
      is_of_ranges && std::any_of(read.ranges().begin(), read.ranges().end(),
                                  [](auto const& range) { return range.declared_flops > 0; });
  if (!read.has_counters() && !is_declared)
    return options.file +
           (options.filters.device ? ": GPU " + std::to_string(*options.filters.device) : "") +
           " " + trace.without_counters();
  auto const of_what_passes = has_filters ? " among what passes the filters" : "";
  if (by == roofline_lines::ranges && read.ranges().empty())
    return options.file + " holds no NVTX ranges that launched kernels" + of_what_passes +
           "; try --by kernel";
  if (report::are_in_source(by)) return without_stacks(trace, options.file);
  if (by == roofline_lines::graphs && !read.times().has_graphs())
    return options.file + " holds no CUDA graphs" + of_what_passes + "; try --by kernel";
  return {};
}

stack_grouping grouping_of(roofline_lines by) {
  switch (by) {
    case roofline_lines::functions:
      return stack_grouping::function;
    case roofline_lines::files:
      return stack_grouping::file;
    case roofline_lines::modules:
      return stack_grouping::module;
    default:
      return stack_grouping::line;
  }
}

std::vector<roofline_row> lines_in_source(roofline_lines by, roofline const& roofs,
                                          trace_contents& trace, roofline_reading const& read,
                                          selection const& wanted,
                                          std::vector<std::string> const& own) {
  std::vector<roofline_row> rows;
  auto const times = read_source_times(trace, wanted, grouping_of(by));
  for (auto const& group : group_by_source(times, trace, {.grouping = grouping_of(by), .own = own}))
    if (auto row = roofline_of(group, read, roofs)) rows.push_back(*std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
  return rows;
}

/// Returns the number of lines left out.
std::size_t keep_first(std::vector<roofline_row>& rows, std::size_t limit) {
  if (limit == 0 || rows.size() <= limit) return 0;
  auto const left_out = rows.size() - limit;
  rows.resize(limit);
  return left_out;
}

int run_one(roofline_options const& options, parsed_options const& parsed,
            std::vector<rank_file> const& other_ranks) {
  auto const [by, scope, format] = parsed;
  auto opened = capture::reader::open(options.file);
  if (!opened) return fail(1, opened.message());
  trace_contents trace(*std::move(opened));

  selection wanted;
  if (auto const failed = narrow(wanted, options.filters, trace, options.file, scope))
    return fail(failed->wrong_options ? 2 : 1, failed->message);
  std::optional<device_id> device;
  if (options.filters.device) device = static_cast<device_id>(*options.filters.device);
  roofline_reading read(trace, device, scope, wanted.is_everything() ? nullptr : &wanted);
  std::optional<step_lines> steps;
  if (by == roofline_lines::steps) steps.emplace(trace, read);
  if (report::are_in_source(by)) read.look_at_stacks(credits_forward(grouping_of(by)));
  auto peaks = find_peaks(trace, read);
  if (device) std::erase_if(peaks, [&](auto const& of) { return of.first != raw(*device); });
  read_alone(trace, read, by == roofline_lines::ranges || steps);
  auto const missing = nothing_to_show(options, by, trace, read, !wanted.is_everything());
  if (!missing.empty()) return fail(1, missing);

  auto const of_ranks = read_other_ranks(other_ranks, trace, read);
  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  if (!wanted.is_everything() && roofs.gpu_ns() <= 0)
    return fail(1, options.file + ": no kernel passes the filters");
  auto rows = steps ? steps->rows(roofs, read.ranges())
              : report::are_in_source(by)
                  ? lines_in_source(by, roofs, trace, read, wanted, options.own)
                  : lines_of(by, roofs, trace, read.ranges());
  if (steps && rows.empty())
    return fail(1, options.file +
                       " has no steps that launched kernels. Call gpuprof_step() or mark steps "
                       "with NVTX ranges");
  auto facts = facts_of(trace, read, roofs, options.filters.device, peaks);
  if (auto line = filters_line(options.filters); !line.empty())
    facts.summary.insert(facts.summary.begin() + 1, std::move(line));
  facts.notes.insert(facts.notes.end(), of_ranks.begin(), of_ranks.end());
  if (auto const graphs = read.graphs_read(); graphs > 0 && by != roofline_lines::graphs)
    facts.notes.push_back(counted(graphs, "CUDA graphs") +
                          " counted as a whole; --by graph shows what that gave");
  if (format == roofline_format::svg && !report::has_points(rows))
    return fail(1,
                "there is nothing to draw: no line of " + options.file +
                    " has FLOP and DRAM bytes, both of which a point needs. gpuprof profile "
                    "--metrics auto, for longer or with a greater --overhead-budget, reads more; "
                    "-f table shows what is known");
  auto const limit =
      options.limit.value_or(format == roofline_format::table ? lines_for_reading : 0);
  auto const left_out = keep_first(rows, static_cast<std::size_t>(limit));
  if (format == roofline_format::table && steps)
    if (auto all = steps->all_together(roofs, read.ranges())) rows.push_back(*std::move(all));
  auto const is_of_kernels = by == roofline_lines::kernels || by == roofline_lines::signatures;
  if (format == roofline_format::table && is_of_kernels && !wanted.is_everything() &&
      rows.size() + left_out > 1) {
    auto& all = rows.emplace_back(roofs.all());
    all.name = "all " + readable_count(rows.size() - 1 + left_out) + " together";
  }
  auto const written =
      write_roofline(rows, by, facts, left_out,
                     {format, options.output, options.file, options.force_overwrite, options.wide});
  return written ? 0 : fail(1, written.message());
}

/// Returns "roof.rank3.csv" for "roof.csv".
std::string output_of_rank(std::string const& output, ranked_capture const& capture) {
  if (output == "-") return output;
  auto const path = std::filesystem::path(output);
  auto name = path.stem().string() + "." + capture.file_name + path.extension().string();
  return (path.parent_path() / name).string();
}

std::vector<rank_file> others_in(capture_set const& set, ranked_capture const& mine) {
  std::vector<rank_file> others;
  for (auto const& capture : set.captures)
    if (capture.rank && capture.path != mine.path) others.push_back({*capture.rank, capture.path});
  return others;
}

/// Writes one roofline after the other, because rates and shares of the roof belong to a GPU and
/// its process. Fails if none has any lines.
int run_over_ranks(roofline_options const& options, parsed_options const& parsed) {
  auto const is_table = parsed.format == roofline_format::table;
  if (options.output == "-" && !is_table)
    return fail(2,
                "several captures go to standard output as tables alone; name --output ROOF.csv "
                "(or .tsv, .json, .svg), each rank gets ROOF.rank3.csv");
  auto const set = read_capture_set(options.files);
  if (!set) return fail(1, set.message());
  for (auto const& line : set->remarks) fail(0, line);
  bool any = false;
  for (auto const& capture : set->captures) {
    auto of_rank = options;
    of_rank.file = capture.path;
    of_rank.output = output_of_rank(options.output, capture);
    if (options.output == "-")
      std::printf("%srank %s%s, %s:\n", &capture == &set->captures.front() ? "" : "\n",
                  capture.label.c_str(),
                  capture.host.empty() ? "" : (" on " + capture.host).c_str(),
                  capture.path.c_str());
    auto const code = run_one(of_rank, parsed, others_in(*set, capture));
    if (code == 2) return code;
    any = any || code == 0;
  }
  return any ? 0 : 1;
}

int run(roofline_options& options) {
  auto const parsed = parse(options);
  if (!parsed) return fail(2, parsed.message());
  auto files = named_captures(options.files);
  if (!files) return fail(1, files.message());
  options.files = *std::move(files);
  if (options.files.size() > 1) return run_over_ranks(options, *parsed);
  options.file = options.files.front();
  return run_one(options, *parsed, files_of_other_ranks(options.file, ".gpuprof"));
}

}  // namespace

void add_roofline(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<roofline_options>();
  auto* const command = app.add_subcommand(
      "roofline", "Say what kernels and ranges achieved, against what the GPU can do");
  command->footer(
      "Needs hardware counters in the capture: gpuprof profile --metrics auto; --by range "
      "and step also show FLOP that ranges declare. Percentages need "
      "measured peaks, in the capture or stored since: gpuprof peaks.\nExit status: 0 done, 1 it "
      "could not be done or nothing passes the filters, 2 the command line is wrong.");
  command->add_option("FILE", options->files, capture_names_help)->required();
  auto* const by =
      command->add_option("--by", options->by,
                          "kernel, kind (of work), signature (kernel, grid and block), range "
                          "(NVTX), step, graph (CUDA), or line, "
                          "function, file (Python) or module (PyTorch): what a line is");
  by->capture_default_str();
  complete_with(by, groupings);
  add_own_option(*command, options->own);
  auto* const scope = command->add_option("--range-scope", options->range_scope, range_scope_help);
  scope->capture_default_str();
  complete_with(scope, range_scopes);
  complete_with(command->add_option(
                    "-f,--format", options->format,
                    "table, csv, tsv, json or svg. Default: as the extension of --output says, "
                    "else table"),
                formats);
  add_filter_options(*command, options->filters);
  auto* const output = command->add_option(
      "-o,--output", options->output,
      "-: standard output; else this file, of several captures one for each rank");
  output->check(name_for_output)->capture_default_str();
  complete_with(output, {.words = {}, .is_file = true});
  command->add_flag("--force-overwrite", options->force_overwrite, "Replace an existing file");
  command
      ->add_option("--limit", options->limit,
                   "N: at most so many lines, 0 for all; 30 in tables, else all")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--wide", options->wide, wide_help);
  command->add_option("--memory-limit", options->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &exit_code] {
    auto const named = options->files.front();
    exit_code = within_memory(
        options->memory_gib, named, [&] { return run(*options); },
        [](std::string const& line) { return fail(1, line); });
  });
}

}  // namespace gpuprof::host::command
