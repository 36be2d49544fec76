// SPDX-License-Identifier: Apache-2.0
// gpuprof roofline FILE: what kernels and ranges of a capture achieved, against what the GPU can
// do.
#include "base/rank_files.hpp"
#include "base/readable.hpp"
#include "filter_options.hpp"
#include "format_choice.hpp"
#include "later_peaks.hpp"
#include "memory_limit.hpp"
#include "named_capture.hpp"
#include "option_checks.hpp"
#include "range_scope_option.hpp"
#include "report/summary_tables.hpp"
#include "roofline_notes.hpp"
#include "roofline_output.hpp"
#include "roofline_reading.hpp"
#include "roofline_summary.hpp"
#include "subcommands.hpp"
#include "tables/overview.hpp"
#include "terminal.hpp"
#include "value_words.hpp"
#include "word_choice.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

namespace gpuprof {
namespace {

struct roofline_options {
  std::string file, by = "kernel", range_scope = "process", output = "-";
  std::string format;  // empty: by the extension of `output`, else table
  filter_options filters;
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
constexpr choice<roofline_lines> groupings[] = {{"kernel", roofline_lines::kernels},
                                                {"signature", roofline_lines::signatures},
                                                {"range", roofline_lines::ranges},
                                                {"graph", roofline_lines::graphs}};
constexpr choice<roofline_format> formats[] = {{"table", roofline_format::table},
                                               {"csv", roofline_format::csv},
                                               {"tsv", roofline_format::tsv},
                                               {"json", roofline_format::json},
                                               {"svg", roofline_format::svg}};

std::vector<roofline_row> lines_of(roofline_lines by, roofline const& roofs, trace_contents& trace,
                                   std::vector<range_work> const& ranges) {
  auto const& labels = trace.labels(kernel_name_style::demangled);
  switch (by) {
    case roofline_lines::kernels:
      return roofs.by_kernel(labels);
    case roofline_lines::signatures:
      return roofs.by_signature(labels, trace.shapes());
    case roofline_lines::graphs:
      return roofs.by_graph(labels);
    case roofline_lines::ranges:
      break;
  }
  return roofs.by_range(ranges,
                        [&](range_key key) { return report::range_name(key, trace.text()); });
}

using moments = std::map<std::uint32_t, std::string>;

/// When the peaks that are used were measured: those in the capture, else those stored since.
moments find_peaks(trace_contents& trace, roofline_reading& read) {
  auto measured = trace.peaks_measured_at();
  for (auto const& device : trace.devices()) {
    if (measured.contains(raw(device.device))) continue;
    auto const later = later_peaks({.uuid = std::string(trace.text()(device.uuid)),
                                    .driver_version = trace.fact("driver.version"),
                                    .sm_count = device.sm_count,
                                    .max_sm_clock_mhz = device.max_sm_clock_khz / 1000,
                                    .max_memory_clock_mhz = device.max_memory_clock_khz / 1000},
                                   trace.origin());
    if (!later) continue;
    read.take_peaks(device.device, *later);
    measured[raw(device.device)] = later->measured_at + ", after the capture";
  }
  return measured;
}

/// From the start of its first capture to the end of its last one.
bool ran_at_the_same_time(trace_contents& one, trace_contents& other) {
  return one.origin() <= other.last_moment() && other.origin() <= one.last_moment();
}

/// Command lines may differ: launchers pass each rank its number.
bool is_of_the_same_job(trace_contents const& one, trace_contents const& other) {
  for (auto const* const fact : {"environment.WORLD_SIZE", "environment.SLURM_JOB_ID"})
    if (one.fact(fact) != other.fact(fact)) return false;
  return true;
}

/// Ranks take turns at reading: what one has read holds for the same kernels of the others. A line
/// for each capture that gave something.
std::vector<std::string> read_other_ranks(std::string const& path, trace_contents& trace,
                                          roofline_reading& read) {
  std::vector<std::string> lines;
  for (auto const& other : files_of_other_ranks(path, ".gpuprof")) {
    auto opened = capture::reader::open(other.path);
    if (!opened || opened->row_count<sampled_launch_record>() == 0) continue;
    trace_contents theirs(*std::move(opened));
    if (!is_of_the_same_job(trace, theirs) || !ran_at_the_same_time(trace, theirs)) continue;
    roofline_reading reading(theirs, std::nullopt, range_scope::process);
    reading.read(false);
    if (auto const kernels = read.take_readings(reading, other.rank); kernels > 0)
      lines.push_back("readings of " + counted(kernels, "kernels") + " are those of rank " +
                      std::to_string(other.rank) + ": " + other.path);
  }
  return lines;
}

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
  return parsed_options{*by, *scope, *format};
}

/// Empty, or why there are no lines of the kind that is asked for.
std::string nothing_to_show(roofline_options const& options, roofline_lines by,
                            trace_contents const& trace, roofline_reading const& read,
                            bool has_filters) {
  if (!read.has_counters())
    return options.file +
           (options.filters.device ? ": GPU " + std::to_string(*options.filters.device) : "") +
           " " + trace.without_counters();
  auto const of_what_passes = has_filters ? " among what passes the filters" : "";
  if (by == roofline_lines::ranges && read.ranges().empty())
    return options.file + " holds no NVTX ranges that launched kernels" + of_what_passes +
           "; try --by kernel";
  if (by == roofline_lines::graphs && !read.times().has_graphs())
    return options.file + " holds no CUDA graphs" + of_what_passes + "; try --by kernel";
  return {};
}

report::roofline_facts facts_of(trace_contents& trace, roofline_reading const& read,
                                roofline const& roofs, roofline_options const& options,
                                moments const& peaks) {
  report::roofline_facts facts;
  facts.notes = roofline_notes(trace, read, roofs);
  facts.gpu_ns = roofs.gpu_ns();
  facts.exact_share = roofs.exact_share();
  facts.known_share = roofs.known_share();
  facts.readings = trace.counters_of("counters");
  facts.samples = read.exact().samples();
  facts.discarded = read.exact().discarded();
  facts.sampling = read.sampling();
  if (auto const price = read.price()) facts.sampling_slowdown = price->ratio;
  for (auto const& [id, of] : read.devices()) {
    bool const is_wanted = !options.filters.device || raw(id) == *options.filters.device;
    if (!is_wanted || of.roofs.empty() || facts.roofs != nullptr) continue;
    facts.roofs = &of.roofs;
    facts.device = trace.device_names()[raw(id)];
  }
  auto const about = trace.overview();
  facts.overview = overview_lines(about);
  facts.summary = roofline_summary(trace, about, read, roofs, peaks);
  if (auto line = filters_line(options.filters); !line.empty())
    facts.summary.insert(facts.summary.begin() + 1, std::move(line));
  return facts;
}

/// Returns how many lines are left out.
std::size_t keep_first(std::vector<roofline_row>& rows, std::size_t limit) {
  if (limit == 0 || rows.size() <= limit) return 0;
  auto const left_out = rows.size() - limit;
  rows.resize(limit);
  return left_out;
}

int run(roofline_options const& options) {
  auto const parsed = parse(options);
  if (!parsed) return fail(2, parsed.message());
  auto const [by, scope, format] = *parsed;
  auto opened = capture::reader::open(options.file);
  if (!opened) return fail(1, opened.message());
  trace_contents trace(*std::move(opened));

  selection wanted;
  if (auto const failed = narrow(wanted, options.filters, trace, options.file, scope))
    return fail(failed->wrong_request ? 2 : 1, failed->message);
  std::optional<device_id> device;
  if (options.filters.device) device = static_cast<device_id>(*options.filters.device);
  roofline_reading read(trace, device, scope, wanted.is_everything() ? nullptr : &wanted);
  auto peaks = find_peaks(trace, read);
  if (device) std::erase_if(peaks, [&](auto const& of) { return of.first != raw(*device); });
  read.read(by == roofline_lines::ranges);
  auto const missing = nothing_to_show(options, by, trace, read, !wanted.is_everything());
  if (!missing.empty()) return fail(1, missing);

  auto const of_ranks = read_other_ranks(options.file, trace, read);
  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  if (!wanted.is_everything() && roofs.gpu_ns() <= 0)
    return fail(1, options.file + ": no kernel passes the filters");
  auto rows = lines_of(by, roofs, trace, read.ranges());
  auto facts = facts_of(trace, read, roofs, options, peaks);
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
  auto const written =
      write_roofline(rows, by, facts, left_out,
                     {format, options.output, options.file, options.force_overwrite, options.wide});
  return written ? 0 : fail(1, written.message());
}

}  // namespace

void add_roofline(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<roofline_options>();
  auto* const command = app.add_subcommand(
      "roofline", "Say what kernels and ranges achieved, against what the GPU can do");
  command->footer(
      "Needs hardware counters in the capture: gpuprof profile --metrics auto. Percentages need "
      "measured peaks, in the capture or stored since: gpuprof peaks.\nExit status: 0 done, 1 it "
      "could not be done or nothing passes the filters, 2 the command line is wrong.");
  command->add_option("FILE", options->file, "The capture, made by gpuprof profile")->required();
  auto* const by = command->add_option(
      "--by", options->by,
      "kernel, signature (kernel, grid and block), range (NVTX) or graph (CUDA): what a line "
      "is");
  by->capture_default_str();
  complete_with(by, groupings);
  auto* const scope = command->add_option("--range-scope", options->range_scope, range_scope_help);
  scope->capture_default_str();
  complete_with(scope, range_scopes);
  complete_with(command->add_option(
                    "-f,--format", options->format,
                    "table, csv, tsv, json or svg. Default: as the extension of --output says, "
                    "else table"),
                formats);
  add_filter_options(*command, options->filters);
  auto* const output =
      command->add_option("-o,--output", options->output, "-: standard output; else this file");
  output->check(not_empty)->capture_default_str();
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
    options->file = named_capture(options->file);
    exit_code = within_memory(
        options->memory_gib, options->file, [&] { return run(*options); },
        [](std::string const& line) { return fail(1, line); });
  });
}

}  // namespace gpuprof
