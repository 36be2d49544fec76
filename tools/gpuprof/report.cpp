// SPDX-License-Identifier: Apache-2.0
// gpuprof report CAPTURE... -o report.html: a page with the results of the other commands.
#include "capture/reader.hpp"
#include "memory_limit.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "ranks/capture_names.hpp"
#include "report_page/whole_page.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace gpuprof::host::command {
namespace {

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
