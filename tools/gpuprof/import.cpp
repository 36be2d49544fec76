// SPDX-License-Identifier: Apache-2.0
// gpuprof import FILE: turns a file of another profiler into a capture.
#include "host/export/interruption.hpp"
#include "host/import/import_job.hpp"
#include "memory_limit.hpp"
#include "progress.hpp"
#include "subcommands.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace gpuprof::host::command {
namespace {

struct import_command {
  import_options options;
  std::uint32_t pid = 0;
  std::vector<std::string> flops;
  bool strict = false;
  double memory_gib = default_memory_gib;
};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof import: %s\n", message.c_str());
  return code;
}

/// Returns run.gpuprof in the same folder for "run.pt.trace.json.gz".
std::string default_output(std::filesystem::path source) {
  for (auto const* const extension : {".gz", ".json", ".trace", ".pt", ".sqlite"})
    if (source.extension() == extension) source.replace_extension();
  return source.string() + ".gpuprof";
}

std::string with_extension(std::string const& output) {
  return output.ends_with(".gpuprof") ? output : output + ".gpuprof";
}

/// Parses "forward=2.1e12"; the name may contain "=", too.
result<declared_range> declared_by(std::string const& text) {
  auto const at = text.rfind('=');
  auto const* const first = text.data() + (at == std::string::npos ? text.size() : at + 1);
  double flops = 0;
  auto const [end, failed] = std::from_chars(first, text.data() + text.size(), flops);
  if (failed != std::errc() || end != text.data() + text.size() || at == 0 ||
      !std::isfinite(flops) || flops <= 0)
    return error{"--flops does not take '" + text + "'; as in forward=2.1e12, RANGE=FLOP"};
  return declared_range{text.substr(0, at), flops};
}

int run(import_options options) {
  options.output =
      options.output.empty() ? default_output(options.source) : with_extension(options.output);
  interruption const noted;
  std::optional<progress_line> progress;
  import_job const job{
      options, [&](std::string const& what, std::uint64_t units) { progress.emplace(what, units); },
      [&](std::uint64_t units) {
        if (auto const signal = interruption::signal()) throw export_interrupted{signal};
        progress->advance(units);
      }};
  auto const done = import_file(job);
  progress.reset();
  if (!done) return fail(1, done.message());
  for (auto const& note : done->notes) fail(0, note);
  for (auto const& path : done->written)
    std::fprintf(stderr, "gpuprof: wrote %s; next: gpuprof stats %s\n", path.c_str(), path.c_str());
  return done->lacks_something ? 3 : 0;
}

int run_within_memory(import_command& command) {
  for (auto const& text : command.flops) {
    auto const declared = declared_by(text);
    if (!declared) return fail(2, declared.message());
    command.options.declared.push_back(*declared);
  }
  try {
    auto const code = within_memory(
        command.memory_gib, command.options.source, [&] { return run(command.options); },
        [](std::string const& line) { return fail(1, line); });
    if (code != 3) return code;
    return command.strict ? 1 : 0;
  } catch (export_interrupted const& by) {
    return fail(128 + by.signal, "interrupted, nothing was written");
  }
}

}  // namespace

void add_import(CLI::App& app, int& exit_code) {
  auto const command = std::make_shared<import_command>();
  auto* const import =
      app.add_subcommand("import", "Turn a file of nsys or torch.profiler into a capture");
  import->footer(
      "Takes what nsys export --type sqlite writes, and traces of torch.profiler (Kineto) in "
      "JSON, also compressed with gzip. What could not be taken is said and counted.\n"
      "Nothing is left under the name of the output unless all of it is written.\n"
      "Exit status: 0 done, 1 it could not be done, or --strict and something is missing, 2 the "
      "command line is wrong.");
  import->add_option("FILE", command->options.source, "FILE.sqlite, trace.json or trace.json.gz")
      ->required();
  auto* const output = import->add_option(
      "-o,--output", command->options.output,
      "FILE: the capture to write, several processes as FILE.PID.gpuprof. Default: beside the "
      "file that is read, under its name");
  output->check(not_empty);
  complete_with(output, {.words = {}, .is_file = true});
  auto* const pid = import->add_option("--pid", command->pid,
                                       "PID: of several processes in one file, this one alone");
  import->add_flag("--cpu-ops", command->options.cpu_ops,
                   "Of torch.profiler: operators as ranges too, in the domain cpu_op");
  import
      ->add_option("--flops", command->flops,
                   "RANGE=FLOP: what every range of this name computes, for roofline --by range. "
                   "May be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  import->add_flag("--force-overwrite", command->options.overwrite, "Replace an existing output");
  import->add_flag("--strict", command->strict,
                   "Exit with 1 when anything could not be taken: the file is damaged or cut, or "
                   "records lack what they need");
  import->add_option("--memory-limit", command->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  import->callback([command, pid, &exit_code] {
    if (pid->count() > 0) command->options.process = command->pid;
  exit_code = run_within_memory(*command);
});
}  // namespace gpuprof::host::command

}  // namespace gpuprof::host::command
