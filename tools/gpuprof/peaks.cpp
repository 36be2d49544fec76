// SPDX-License-Identifier: Apache-2.0
// gpuprof peaks: what the GPUs of this machine really reach, measured once and kept.
#include "model/peaks.hpp"

#include "base/process.hpp"
#include "captured_peaks.hpp"
#include "guest/peaks/obtain.hpp"
#include "guest/peaks/store/peaks_json.hpp"
#include "guest/peaks/store/store.hpp"
#include "guest/peaks/theory/test_list.hpp"
#include "host/report/peaks_table.hpp"
#include "output_file.hpp"
#include "peaks_beforehand.hpp"
#include "report_format.hpp"
#include "subcommands.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <functional>
#include <langinfo.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <vector>

namespace gpuprof::host::command {

using namespace guest;

namespace {

constexpr auto no_unit = text::time_unit::nanoseconds;

bool shows_unicode() {
  std::setlocale(LC_CTYPE, "");
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/// Most terminals can be widened to this, unless this one is narrower.
std::size_t width_of_output(output_file const& out) {
  constexpr std::size_t usual = 120;
  winsize size{};
  if (ioctl(fileno(out.stream()), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return std::min<std::size_t>(usual, size.ws_col);
}

text::table test_table() {
  using text::column_kind;
  return {"peak_tests",
          "Peak tests",
          {{"test"}, {"group"}, {"title"}, {"unit"}},
          [](std::function<void(text::row const&)> const& take) {
            for (auto const& test : peaks::all_tests())
              take({test.name, test.group, test.title, test.unit});
          }};
}

/// Writes peaks as text, CSV, TSV or JSON, or the list of tests.
///
/// `labels` name the GPUs if there are several.
void write_peaks(std::span<gpu_peaks const> gpus, std::vector<std::string> labels,
                 report_format format, output_file const& out) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  switch (format) {
    case report_format::json:
      return out.put(peaks::to_json(gpus));
    case report_format::csv:
      return text::write_csv(report::peaks_table(gpus), no_unit, sink);
    case report_format::tsv:
      return text::write_tsv(report::peaks_table(gpus), no_unit, sink);
    case report_format::table:
      return report::write_peaks(
          gpus,
          {.width = width_of_output(out), .blocks = shows_unicode(), .labels = std::move(labels)},
          sink);
  }
}

void write_test_list(report_format format, output_file const& out) {
  auto const sink = [&out](std::string_view text) { out.put(text); };
  switch (format) {
    case report_format::json:
      return text::write_json(test_table(), no_unit, sink);
    case report_format::csv:
      return text::write_csv(test_table(), no_unit, sink);
    case report_format::tsv:
      return text::write_tsv(test_table(), no_unit, sink);
    case report_format::table:
      return text::write_columns(test_table(), no_unit, sink);
  }
}

struct peaks_options {
  std::vector<std::string> only, from;
  std::vector<int> devices;
  bool quick = false, sustained = false, refresh = false, force = false, zeros = false;
  bool list = false;
  output_options output;
  report_format format{};
};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof peaks: %s\n", message.c_str());
  return code;
}

/// Returns `code` if everything could be written.
int write_out(peaks_options const& options, int code,
              std::function<void(output_file const&)> const& write) {
  auto out = output_file::open(options.output.output, options.output.force_overwrite);
  if (!out) return fail(1, out.message());
  write(*out);
  auto const written = out->finish();
  return written ? code : fail(1, written.message());
}

result<std::vector<peaks::test_id>> asked_tests(peaks_options const& options) {
  std::string names;
  for (auto const& name : options.only) names += (names.empty() ? "" : ",") + name;
  return options.only.empty() ? peaks::every_test() : peaks::select_tests(names);
}

int print_files(peaks_options const& options, std::vector<peaks::test_id> const& tests) {
  std::vector<gpu_peaks> gpus;
  for (auto const& path : options.from) {
    auto read = is_capture(path) ? captured_peaks(path) : peaks::read_peaks_file(path);
    if (!read) return fail(1, read.message());
    std::move(read->begin(), read->end(), std::back_inserter(gpus));
  }
  if (gpus.empty()) return fail(1, "there are no peaks in " + options.from.front());
  if (!options.only.empty())  // otherwise keep tests that this gpuprof does not know, too
    for (auto& gpu : gpus) peaks::keep_only(gpu, tests);
  return write_out(options, 0,
                   [&](output_file const& out) { write_peaks(gpus, {}, options.format, out); });
}

bool any_failed(gpu_peaks const& peaks) {
  return std::any_of(peaks.results.begin(), peaks.results.end(), [](peak_result const& result) {
    return result.outcome == peak_outcome::failed;
  });
}

int measure_devices(peaks_options const& options, std::vector<int> const& devices,
                    peaks::obtain_options const& wanted) {
  std::vector<gpu_peaks> gpus;
  std::vector<std::string> labels, origins;
  int code = 0;
  for (auto const device : devices) {
    auto const label = "GPU " + std::to_string(device);
    auto const prefix = devices.size() > 1 ? label + ": " : "";
    auto obtained = obtain_visibly(device, prefix, wanted);
    if (!obtained) {
      code = fail(1, prefix + obtained.message());
      continue;
    }
    origins.push_back(prefix + obtained->origin + "\n");
    if (!obtained->trouble.empty()) fail(0, prefix + obtained->trouble);
    if (any_failed(obtained->peaks)) code = 1;
    gpus.push_back(std::move(obtained->peaks));
    labels.push_back(label);
  }
  if (gpus.empty()) return code;
  return write_out(options, code, [&](output_file const& out) {
    // Text output begins with the origin of the values; other formats contain only the table.
    auto const for_people = options.format == report_format::table;
    for (auto const& origin : origins)
      for_people ? out.put(origin) : void(std::fputs(origin.c_str(), stderr));
    if (for_people) out.put("\n");
    write_peaks(gpus, labels, options.format, out);
  });
}

/// Names the first two options that exclude each other, in one line; empty if there are none.
std::string contradiction(peaks_options const& o) {
  struct given_option {
    char const* name;
    bool given;
  };
  for (auto const& measuring :
       {given_option{"--quick", o.quick}, given_option{"--sustained", o.sustained},
        given_option{"--refresh", o.refresh}, given_option{"--force", o.force},
        given_option{"--zeros", o.zeros}, given_option{"--device", !o.devices.empty()}})
    for (auto const& reading :
         {given_option{"--from", !o.from.empty()}, given_option{"--list", o.list}})
      if (measuring.given && reading.given)
        return std::string(reading.name) + " measures nothing: leave out " + measuring.name;
  if (o.list && !(o.only.empty() && o.from.empty()))
    return "--list prints all tests: leave out --only and --from";
  if (o.quick && o.sustained) return "--quick has no sustained figures: leave out --sustained";
  return {};
}

int run(peaks_options options) {
  auto const format = chosen_format(options.output);
  if (!format) return fail(2, format.message());
  options.format = *format;
  auto const place = output_file::check(options.output.output, options.output.force_overwrite);
  if (!place) return fail(1, place.message());
  if (auto const line = contradiction(options); !line.empty()) return fail(2, line);
  if (options.list)
    return write_out(options, 0,
                     [&](output_file const& out) { write_test_list(options.format, out); });
  auto const tests = asked_tests(options);
  if (!tests) return fail(2, tests.message());
  if (!options.from.empty()) return print_files(options, *tests);

  auto const count = peaks::count_gpus();
  if (!count) return fail(1, count.message());
  auto devices = options.devices;
  bool const all = devices.empty();
  for (int i = 0; all && i < *count; ++i) devices.push_back(i);
  for (auto const device : devices)
    if (device < 0 || device >= *count)
      return fail(2, "there is no GPU " + std::to_string(device) + "; CUDA shows " +
                         std::to_string(*count) + " here, counted from 0");
  peaks::obtain_options wanted;
  wanted.what = {.tests = *tests,
                 .quick = options.quick,
                 .sustain_all = options.sustained,
                 .force = options.force,
                 .zeros = options.zeros,
                 .on_progress = {}};
  wanted.refresh = options.refresh;
  wanted.folder = peaks::store_folder();
  return measure_devices(options, devices, wanted);
}

}  // namespace

void add_peaks(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<peaks_options>();
  auto* const command =
      app.add_subcommand("peaks", "Measure what the GPUs of this machine really reach");
  command->footer(
      "Results are kept in ~/.cache/gpuprof/peaks ($GPUPROF_PEAKS_DIR) for as long as GPU, driver, "
      "clocks and limits stay the same.\nExit status: 0 when every test that is available was "
      "measured, else 1; 2 when the command line is wrong.");
  auto const add_list = [&](char const* name, auto& to, char const* help) {
    return command->add_option(name, to, help)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  auto* const only =
      add_list("--only", options->only, "NAME[,NAME...]: these tests or groups; --list shows them");
  only->delimiter(',');
  complete_with(only, {.words = peaks::test_and_group_names(), .is_list = true});
  command->add_flag("--list", options->list, "List the tests and measure nothing");
  command->add_flag("--quick", options->quick, "Fewer runs, no sustained figures: a second");
  command->add_flag("--sustained", options->sustained,
                    "Sustained figures of every test, not of those alone where power matters");
  command->add_flag("--refresh", options->refresh, "Measure even when results are stored");
  command->add_flag("--force", options->force, "Measure even while another process loads the GPU");
  command->add_flag("--zeros", options->zeros,
                    "Operands that are all zero: more than real data ever reaches, never stored");
  add_list("--device", options->devices,
           "N[,N...]: these GPUs, as CUDA counts them, instead of all")
      ->delimiter(',');
  complete_with(
      add_list(
          "--from", options->from,
          "FILE: print what is in it and measure nothing: a capture, or a file that --json or the "
          "store wrote; given several times, side by side"),
      {.words = {}, .is_file = true});
  add_output_options(*command, options->output);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace gpuprof::host::command
