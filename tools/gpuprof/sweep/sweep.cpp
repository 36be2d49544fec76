// SPDX-License-Identifier: Apache-2.0
// gpuprof sweep CAPTURE...: what a program, kernel or range achieved at each of its sizes.
#include "../word_option.hpp"
#include "base/readable.hpp"
#include "filter_options.hpp"
#include "host/report/roofline_chart.hpp"
#include "host/report/sweep_report.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "ranks/capture_names.hpp"
#include "report_format.hpp"
#include "subcommands.hpp"
#include "sweep/sweep_reading.hpp"
#include "terminal.hpp"
#include "text/padding.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>

namespace gpuprof::host::command {
namespace {

constexpr std::size_t max_sizes_named = 4, max_left_out_named = 6;

/// Returns the median DRAM roof, computed from rates and shares: the roof for the actual mix of
/// reads and writes.
std::optional<double> roof_of_the_mix(std::span<roofline_row const> rows) {
  std::vector<double> roofs;
  for (auto const& row : rows)
    if (row.dram_rate && row.shares[dram_roof] && *row.shares[dram_roof] > 0)
      roofs.push_back(*row.dram_rate / *row.shares[dram_roof]);
  if (roofs.empty()) return std::nullopt;
  auto const middle = roofs.begin() + static_cast<std::ptrdiff_t>(roofs.size() / 2);
  std::nth_element(roofs.begin(), middle, roofs.end());
  return *middle;
}

report::roofline_roofs drawn_roofs(std::span<roofline_row const> rows,
                                   measured_roofs const& peaks) {
  auto roofs = report::roofs_of(rows, peaks);
  std::erase_if(roofs.memory, [](auto const& roof) {
    return roof.name != "DRAM" || (!roof.measured && !roof.theory);
  });
  if (auto const mix = roof_of_the_mix(rows); mix && !roofs.memory.empty())
    roofs.memory.front().measured = mix;
  return roofs;
}

/// Collects the captures of a sweep, with notes for readers.
class collection {
 public:
  void take(std::string const& path, swept_capture of) {
    if (all_.points.empty()) {
      all_ = of;
      all_.notes.clear();
    } else {
      all_.points.insert(all_.points.end(), of.points.begin(), of.points.end());
      all_.rows.insert(all_.rows.end(), of.rows.begin(), of.rows.end());
      if (all_.roofs.empty()) all_.roofs = of.roofs;
    }
    programs_[of.program].push_back(path);
    devices_[of.device].push_back(path);
    for (auto const& note : of.notes) notes_.push_back(path + ": " + note);
  }
  void leave_out(std::string const& why) {
    if (left_out_++ < max_left_out_named) notes_.push_back("left out: " + why);
  }

  bool empty() const noexcept { return all_.points.empty(); }
  swept_capture const& all() const noexcept { return all_; }
  std::vector<std::string> notes(std::span<sweep_point const> points) {
    auto out = std::move(notes_);
    if (left_out_ > max_left_out_named)
      out.push_back("left out: " + counted(left_out_ - max_left_out_named, "more captures") +
                    " for such reasons");
    say_several(out, programs_, "different programs");
    say_several(out, devices_, "different GPUs, the roofs are of the first");
    say_equal_sizes(out, points);
    if (!has_sizes(points)) say_categories(out, points);
    for (auto& note : out) note = text::on_one_line(note);
    return out;
  }

 private:
  using captures_by = std::map<std::string, std::vector<std::string>>;
  static void say_several(std::vector<std::string>& out, captures_by const& of,
                          std::string const& what) {
    if (of.size() < 2) return;
    auto text = what + ": ";
    std::size_t shown = 0;
    for (auto const& [name, paths] : of) {
      if (shown == max_sizes_named) {
        text += " and " + std::to_string(of.size() - shown) + " more";
        break;
      }
      text += (shown++ == 0 ? "" : ", ") + (name.empty() ? "(not known)" : name) + " (" +
              paths.front() + ")";
    }
    out.push_back(std::move(text));
  }
  static void say_equal_sizes(std::vector<std::string>& out, std::span<sweep_point const> points) {
    std::string sizes;
    std::size_t count = 0;
    for (auto const& point : points) {
      if (point.captures < 2) continue;
      if (count++ < max_sizes_named)
        sizes +=
            (sizes.empty() ? "" : ", ") + point.label + " (" + std::to_string(point.captures) + ")";
    }
    if (count > max_sizes_named)
      sizes += " and " + std::to_string(count - max_sizes_named) + " more";
    if (count > 0) out.push_back("several captures of a size, their mean is shown: " + sizes);
  }
  static void say_categories(std::vector<std::string>& out, std::span<sweep_point const> points) {
    auto const first =
        std::find_if(points.begin(), points.end(), [](auto const& p) { return !p.size; });
    out.push_back("'" + first->label +
                  "' is no number: labels are categories, in the order given, without a size at "
                  "which the plateau is reached");
  }

  swept_capture all_;
  std::vector<std::string> notes_;
  std::size_t left_out_ = 0;
  captures_by programs_, devices_;
};

std::string subject_of(sweep_question const& question, std::string const& range) {
  std::string kernels;
  for (auto const& name : question.filters.kernels)
    kernels += (kernels.empty() ? "kernel " : ", ") + name;
  if (range.empty()) return kernels.empty() ? "all kernels" : kernels;
  return kernels.empty() ? "range " + range : kernels + " in range " + range;
}

/// The notes name captures that do not answer the question; it is a failure if none does.
std::variant<report::sweep, sweep_failure> sweep_of_captures(std::span<std::string const> paths,
                                                             sweep_question const& question,
                                                             std::string const& over) {
  collection captures;
  std::string first_failure;
  for (auto const& path : paths) {
    auto read = read_sweep(path, question);
    if (auto* const failed = std::get_if<sweep_failure>(&read)) {
      if (failed->wrong_options) return *failed;
      if (first_failure.empty()) first_failure = failed->message;
      captures.leave_out(failed->message);
      continue;
    }
    captures.take(path, std::get<swept_capture>(std::move(read)));
  }
  if (captures.empty())
    return sweep_failure{first_failure + (paths.size() > 1
                                              ? "; the same or the like of all " +
                                                    std::to_string(paths.size()) + " captures"
                                              : "")};
  auto const& all = captures.all();
  report::sweep out;
  out.points = in_order(all.points);
  out.found = find_in(out.points);
  out.facts = {.over = over,
               .subject = subject_of(question, all.range),
               .calls = question.counts_ranges() ? "ranges" : "launches",
               .program = all.program,
               .device = all.device,
               .notes = captures.notes(out.points),
               .roofs = drawn_roofs(all.rows, all.roofs)};
  return out;
}

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
  auto out = output_file::open(options.output, options.force_overwrite, options.files);
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
  output->check(name_for_output)->capture_default_str();
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
