// SPDX-License-Identifier: Apache-2.0
// gpuprof report CAPTURE... -o report.html: a page with the results of the other commands.
#include "analyze/asked_step.hpp"
#include "base/result.hpp"
#include "capture/reader.hpp"
#include "comparison/comparison_output.hpp"
#include "comparison/read_sides.hpp"
#include "host/compare/run_digest.hpp"
#include "host/export/interruption.hpp"
#include "host/page/packed_columns.hpp"
#include "host/page/page_file.hpp"
#include "host/report/advice_words.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "ranks/capture_names.hpp"
#include "ranks/capture_set.hpp"
#include "report_page/json_members.hpp"
#include "report_page/page_documents.hpp"
#include "report_page/rank_document.hpp"
#include "stats_output.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

struct page_inputs {
  std::vector<std::string> captures;
  std::vector<std::string> against;  // the new side of a comparison; empty: no comparison
  bool different_programs = false;
  asked_step step;                // a single one is what the timeline shows first
  bool whole_run = false;         // the advice is about all of it, not only about the steps
  std::size_t max_bars = 0;       // limit for all timelines together
  std::function<void()> advance;  // called for each record of the timelines
};

/// Writes the part of a page that compares two sides, as `gpuprof compare` does.
///
/// {"headlines": [...], "compare": as `gpuprof compare -f json` has it}, or {"missing": "why"} for
/// captures of different programs, unless these are allowed.
result<std::string> comparison_document(std::vector<std::string> const& base,
                                        std::vector<std::string> const& fresh,
                                        std::string const& step_name, bool different_programs) {
  auto const sides = read_sides(base, fresh, step_name);
  if (!sides) return error{sides.message()};
  json_members members;
  auto const differ = compare::programs_differ(sides->base, sides->fresh);
  if (!differ.empty() && !different_programs) {
    members.add_text("missing", "The captures are of different programs: " + differ +
                                    "; nothing is compared, --different-programs does it all the "
                                    "same.");
    return std::move(members).take();
  }
  auto const compared = compare::compare_runs(sides->base, sides->fresh);
  compared_sides const both{sides->base, sides->fresh};
  members.add_texts("headlines", headlines_of(compared, both));
  members.add("compare") += comparison_json(compared, both, {});
  return std::move(members).take();
}

// A browser can sort this many lines of a table without delay.
constexpr std::size_t max_rows = 5000, least_rows = 500, least_bars = 7500;
constexpr std::size_t max_paths = 2000,
                      least_paths = 200;  // further ones are narrower than a pixel
// Histograms and points of this many kernels take half a megabyte.
constexpr std::size_t max_kernels = 200, least_kernels = 10;
// Further captures have only the data for comparison, because the page must be small enough to
// mail.
constexpr std::size_t max_with_parts = 64;

std::string file_name_of(std::string const& path) {
  return std::filesystem::path(path).filename().string();
}

result<page::page_contents> page_of_one(page_inputs const& inputs) {
  auto parts = read_parts({.capture = inputs.captures.front(),
                           .step = inputs.step,
                           .whole_run = inputs.whole_run,
                           .max_bars = inputs.max_bars,
                           .max_rows = max_rows,
                           .max_paths = max_paths,
                           .max_kernels = max_kernels,
                           .advance = inputs.advance});
  if (!parts) return error{parts.message()};
  return page::page_contents{file_name_of(inputs.captures.front()) + " - gpuprof report",
                             std::move(parts->blocks)};
}

/// The captures that a reader may choose from, and the embedded data of each.
class several_captures {
 public:
  several_captures(page_inputs const& inputs, page::page_contents& to, std::size_t count)
      : inputs_(inputs), to_(to), with_parts_(std::min(count, max_with_parts)) {}

  /// Limits for the parts of a capture, because all captures share a page.
  parts_inputs of(std::string const& path) const {
    return {.capture = path,
            .step = inputs_.step,
            .whole_run = inputs_.whole_run,
            .max_bars = std::max(inputs_.max_bars / with_parts_, least_bars),
            .max_rows = std::max(max_rows / with_parts_, least_rows),
            .max_paths = std::max(max_paths / with_parts_, least_paths),
            .max_kernels = std::max(max_kernels / with_parts_, least_kernels),
            .advance = inputs_.advance};
  }

  std::size_t with_parts() const noexcept { return with_parts_; }

  /// Adds the parts, if the capture is one of the `with_parts()` that have them, and in any case
  /// the time ledger.
  result<report::ledger> add(std::string const& path, std::string const& label, bool has_parts) {
    auto const number = count_++;
    capture_parts parts;
    if (has_parts) {
      auto read = read_parts(of(path));
      if (!read) return error{read.message()};
      parts = *std::move(read);
    } else if (auto const read = advice_document({.captures = {path},
                                                  .filters = {},
                                                  .step = {.name = inputs_.step.name},
                                                  .rules = {},
                                                  .whole_run = inputs_.whole_run},
                                                 &parts.time);
               !read) {
      return error{read.message()};
    }
    for (auto& [name, bytes] : parts.blocks)
      to_.blocks.push_back({"capture-" + std::to_string(number) + "-" + name, std::move(bytes)});
    json_members members;
    members.add_text("label", label);
    members.add("has_parts") += has_parts ? "true" : "false";
    list_ += (list_.empty() ? "[" : ",") + std::move(members).take();
    return std::move(parts.time);
  }

  /// `what`: "rank" or "capture".
  void finish(std::string_view what) {
    json_members members;
    members.add_text("what", what);
    members.add("max_bars") += std::to_string(of({}).max_bars);
    members.add("max_rows") += std::to_string(of({}).max_rows);
    members.add("captures") += list_ + "]";
    to_.blocks.push_back({"captures", page::packed(std::move(members).take())});
  }

 private:
  page_inputs const& inputs_;
  page::page_contents& to_;
  std::size_t const with_parts_;
  std::size_t count_ = 0;
  std::string list_;
};

result<page::page_contents> page_of_ranks(page_inputs const& inputs) {
  auto set = read_capture_set(inputs.captures);
  if (!set) return error{set.message()};
  page::page_contents contents;
  contents.title = std::to_string(set->captures.size()) + " ranks - gpuprof report";
  several_captures several(inputs, contents, set->captures.size());
  rank_reading read;
  for (auto const& capture : set->captures)
    if (auto const done = read.add(capture, inputs.step.name); !done) return error{done.message()};
  rank_steps steps(set->captures.size(), read.waits());
  auto const chosen = read.slowest(several.with_parts());
  for (std::size_t i = 0; i < set->captures.size(); ++i) {
    auto const& capture = set->captures[i];
    auto time = several.add(capture.path, capture.label, chosen.count(i) > 0);
    if (!time) return error{time.message()};
    steps.add(*time);
  }
  several.finish("rank");
  auto document = rank_document(*set, inputs.step.name, inputs.whole_run, read, steps);
  if (!document) return error{document.message()};
  contents.blocks.push_back({"ranks", page::packed(*document)});
  return contents;
}

result<page::page_contents> page_of_sides(page_inputs const& inputs) {
  page::page_contents contents;
  contents.title = file_name_of(inputs.captures.front()) + " against " +
                   file_name_of(inputs.against.front()) + " - gpuprof report";
  // Called first, because it says if captures cannot be compared.
  auto document = comparison_document(inputs.captures, inputs.against, inputs.step.name,
                                      inputs.different_programs);
  if (!document) return error{document.message()};
  auto const base = inputs.captures.size(), fresh = inputs.against.size();
  several_captures several(inputs, contents, base + fresh);
  auto const half = several.with_parts() / 2;
  auto const of_base = std::min(base, std::max(half, several.with_parts() - std::min(half, fresh)));
  auto const add = [&](std::string const& side, std::vector<std::string> const& files,
                       std::size_t with_parts) -> result<void> {
    for (std::size_t i = 0; i < files.size(); ++i)
      if (auto const time = several.add(files[i], side + file_name_of(files[i]), i < with_parts);
          !time)
        return error{time.message()};
    return {};
  };
  if (auto const done = add("base: ", inputs.captures, of_base); !done)
    return error{done.message()};
  if (auto const done = add("new: ", inputs.against, several.with_parts() - of_base); !done)
    return error{done.message()};
  several.finish("capture");
  contents.blocks.push_back({"comparison", page::packed(*document)});
  return contents;
}

/// With several captures, the names of their blocks begin with "capture-N-"; "captures" describes
/// each.
result<page::page_contents> read_page(page_inputs const& inputs) {
  if (!inputs.against.empty()) return page_of_sides(inputs);
  return inputs.captures.size() > 1 ? page_of_ranks(inputs) : page_of_one(inputs);
}

// Half a million bars take 4 MB of a page and are drawn in less than 0.1 s.
constexpr std::size_t max_bars = 500'000;

struct report_options {
  std::vector<std::string> files, against;
  std::string output, step;
  bool force_overwrite = false, different_programs = false, whole_run = false;
  double memory_gib = default_memory_gib;

  bool is_of_one() const { return files.size() == 1 && against.empty(); }
};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof report: %s\n", message.c_str());
  return code;
}

std::uint64_t records_of(std::string const& path) {
  auto const opened = capture::reader::open(path);
  if (!opened) return 0;
  return opened->row_count<kernel_record>() + opened->row_count<graph_record>() +
         opened->row_count<copy_record>() + opened->row_count<memset_record>() +
         opened->row_count<api_record>() + opened->row_count<range_begin>() +
         opened->row_count<sample_record>();
}

int write_report(report_options const& options) {
  std::uint64_t records = 0;
  for (auto const* files : {&options.files, &options.against})
    for (auto const& file : *files) records += records_of(file);
  progress_line progress(
      "reading " + (options.is_of_one() ? options.files.front() : std::string("captures")),
      records);
  auto const contents = read_page({.captures = options.files,
                                   .against = options.against,
                                   .different_programs = options.different_programs,
                                   .step = parse_asked_step(options.step),
                                   .whole_run = options.whole_run,
                                   .max_bars = max_bars,
                                   .advance = [&] { progress.advance(1); }});
  if (!contents) return fail(1, contents.message());
  interruption const noted;  // what is begun now is soon whole, so that nothing half is left
  auto const size = page::write_page(*contents, options.output, options.force_overwrite);
  if (!size) return fail(1, size.message());
  std::fprintf(stderr, "gpuprof: wrote %s, %.1f MB\n", options.output.c_str(),
               static_cast<double>(*size) / 1e6);
  return 0;
}

/// Puts the page beside the first file named, or beside the captures of a folder or pattern.
std::string default_output(std::vector<std::string> const& files) {
  namespace fs = std::filesystem;
  if (files.size() == 1) return fs::path(files.front()).replace_extension(".html").string();
  return (fs::path(files.front()).parent_path() / "report.html").string();
}

int run(report_options& options) {
  if (!page::can_be_made())
    return fail(1,
                "this build draws no pages: it was made without ECharts and Tabulator; configure "
                "it with -DGPUPROF_REPORT_JS_DIR=FOLDER or where PyPI can be reached");
  auto files = named_captures(options.files);
  if (!files) return fail(1, files.message());
  options.files = *std::move(files);
  auto against = named_captures(options.against);
  if (!against) return fail(1, against.message());
  options.against = *std::move(against);
  if (options.output.empty()) options.output = default_output(options.files);
  if (auto const writable = output_file::check(options.output, options.force_overwrite); !writable)
    return fail(1, writable.message());
  return write_report(options);
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<report_options>();
  auto* const command = app.add_subcommand("report", "Write a page to look at in a browser");
  command->footer(
      "One file that needs nothing else: no network, no server, no other file.\nExit status: 0 "
      "done, 1 it could not be done, 2 the command line is wrong.");
  command->add_option("FILE", options->files, capture_names_help)->required();
  auto* const output = command->add_option(
      "-o,--output", options->output,
      "FILE to write. Default: beside the capture, under its name, with .html; of "
      "several, report.html beside the first");
  output->check(not_empty);
  complete_with(output, {.words = {}, .is_file = true});
  auto* const against =
      command->add_option("--against", options->against,
                          "FILE: a capture of the changed program, as gpuprof compare takes it: "
                          "what changed since the captures before it; a folder or a pattern stands "
                          "for several, and it may stand several times");
  against->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
  complete_with(against, {.words = {}, .is_file = true});
  command
      ->add_flag("--different-programs", options->different_programs,
                 "Compare although the captures are of different programs")
      ->needs(against);
  command->add_flag("--force-overwrite", options->force_overwrite, "Replace an existing file");
  command->add_option(
      "--step", options->step,
      "NAME: the NVTX range that is a step. Default: one that repeats. slowest or a "
      "number, also behind NAME/: the timeline opens with that step");
  command->add_flag("--all", options->whole_run,
                    "Advice on the whole run: also on what is before and after the steps, and on "
                    "their warm-up");
  command->add_option("--memory-limit", options->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &exit_code] {
    exit_code = within_memory(
        options->memory_gib, options->is_of_one() ? options->files.front() : "these captures",
        [&] { return run(*options); }, [](std::string const& line) { return fail(1, line); });
  });
}

}  // namespace gpuprof::host::command
