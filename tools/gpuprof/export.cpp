// SPDX-License-Identifier: Apache-2.0
// gpuprof export CAPTURE...: writes captures in the format of another program.
#include "base/nearest_name.hpp"
#include "host/export/export_job.hpp"
#include "host/export/interruption.hpp"
#include "host/export/unfinished_output.hpp"
#include "memory_limit.hpp"
#include "progress.hpp"
#include "ranks/capture_names.hpp"
#include "ranks/capture_set.hpp"
#include "roofline_of_capture.hpp"
#include "subcommands.hpp"
#include "whatif/traced_paths.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <optional>

namespace gpuprof::host::command {
namespace {

struct export_command {
  std::vector<std::string> files;
  std::string type;
  std::string output;
  bool force_overwrite = false;
  bool strict = false;
  double memory_gib = default_memory_gib;
  export_options options;
};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof export: %s\n", message.c_str());
  return code;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (auto const& type : export_types()) names.emplace_back(type.name);
  return names;
}

std::string listed(std::vector<std::string> const& words) {
  std::string all;
  for (auto const& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

result<export_type> type_named(std::string const& name) {
  for (auto const& type : export_types())
    if (type.name == name) return type;
  auto const names = type_names();
  auto const near = nearest_name(name, names);
  return error{"--type does not take '" + name + "'" +
               (near.empty() ? "" : ", did you mean " + near + "?") + "; choose from " +
               listed(names)};
}

/// Returns a path beside the capture with the same name.
std::string default_output(std::string const& capture, export_type const& type) {
  auto path = std::filesystem::path(capture).replace_extension(std::string(type.extension));
  return type.extension.empty() ? path.string() + "_" + std::string(type.name) : path.string();
}

std::uint64_t rows_to_export(capture::reader const& file) {
  return file.row_count<kernel_record>() + file.row_count<graph_record>() +
         file.row_count<copy_record>() + file.row_count<memset_record>() +
         file.row_count<api_record>() + file.row_count<range_begin>() +
         file.row_count<sample_record>();
}

/// Returns what is missing and not visible in the export.
std::vector<std::string> missing_from(export_job const& job) {
  return job.missing.empty() ? job.trace.missing() : job.missing;
}

struct destination {
  std::string path;   // where it is written
  std::string shown;  // final path, for messages
};

std::string with_shown(std::string text, destination const& to) {
  auto const at = to.path == to.shown ? std::string::npos : text.find(to.path);
  return at == std::string::npos ? text : text.replace(at, to.path.size(), to.shown);
}

/// Returns an error if it could not be written; else true if the capture lacks anything.
result<bool> export_one(export_command const& command, export_type const& type,
                        std::string const& file, destination const& to) {
  auto opened = capture::reader::open(file);
  if (!opened) return error{opened.message()};
  trace_contents trace(std::move(*opened));
  trace.show_operators();
  exported_names names(trace);
  progress_line progress("exporting " + file, rows_to_export(trace.file()));
  export_job job{trace, names, command.options, [&](std::uint64_t rows) {
                   if (auto const signal = interruption::signal()) throw export_interrupted{signal};
                   progress.advance(rows);
                 }};
  job.roofline = [&] { return roofline_of(trace); };
  job.critical_path = [&] { return read_traced_paths(trace); };
  auto const written = type.write(job, to.path, command.force_overwrite);
  if (!written) return error{with_shown(written.message(), to)};
  for (auto const& note : *written) std::fprintf(stderr, "gpuprof export: %s\n", note.c_str());
  auto const missing = missing_from(job);
  for (auto const& line : missing)
    std::fprintf(stderr, "gpuprof export: missing from %s: %s\n", to.shown.c_str(), line.c_str());
  return !missing.empty();
}

int run_alone(export_command const& command, export_type const& type) {
  auto const& file = command.files.front();
  auto const output = command.output.empty() ? default_output(file, type) : command.output;
  std::error_code ignored;
  if (std::filesystem::equivalent(file, output, ignored))
    return fail(1, output +
                       " is the capture itself, nothing is written; use another name for "
                       "--output");
  interruption const noted;
  auto const lacks = export_one(command, type, file, {output, output});
  if (!lacks) return fail(1, lacks.message());
  std::fprintf(stderr, "gpuprof: wrote %s\n", output.c_str());
  return command.strict && *lacks ? 1 : 0;
}

/// Types that take all ranks distinguish them by number only. Returns empty if all numbers differ,
/// else an error text.
std::string ranks_doubled(capture_set const& set) {
  std::map<std::uint32_t, std::string> paths;
  for (auto const& capture : set.captures) {
    auto const rank = capture.rank.value_or(0);
    auto const [at, is_new] = paths.try_emplace(rank, capture.path);
    if (!is_new)
      return at->second + " and " + capture.path + " would both be rank " + std::to_string(rank) +
             "; nothing is written, export one of them, or each to a folder of its own";
  }
  return {};
}

/// Exports to one folder: a file per rank, or all ranks together if the type supports it. With one
/// file per rank, nothing remains if one cannot be written.
int run_over_ranks(export_command const& command, export_type const& type) {
  if (command.output.empty())
    return fail(2, "several captures are exported to a folder; name one with --output");
  auto const set = read_capture_set(command.files);
  if (!set) return fail(1, set.message());
  for (auto const& line : set->remarks) fail(0, line);
  if (type.adds_ranks)
    if (auto const doubled = ranks_doubled(*set); !doubled.empty()) return fail(1, doubled);
  std::optional<unfinished_folder> folder;
  if (!type.adds_ranks) {
    auto made = unfinished_folder::create(command.output, command.force_overwrite);
    if (!made) return fail(1, made.message());
    folder.emplace(std::move(*made));
  }
  interruption const noted;
  bool any_lacks = set->has_unreadable;
  for (auto const& capture : set->captures) {
    auto const name = "/" + capture.file_name + std::string(type.extension);
    auto const to =
        folder ? destination{folder->temporary_path() + name, command.output + name}
               : destination{command.output, command.output + " (rank " + capture.label + ")"};
    auto const lacks = export_one(command, type, capture.path, to);
    if (!lacks)
      return fail(1, lacks.message() + (type.adds_ranks ? "; the ranks before it are there" : ""));
    any_lacks = any_lacks || *lacks;
  }
  if (folder)
    if (auto const done = folder->finish(); !done) return fail(1, done.message());
  std::fprintf(stderr, "gpuprof: wrote %s, %zu captures\n", command.output.c_str(),
               set->captures.size());
  return command.strict && any_lacks ? 1 : 0;
}

int run(export_command& command) {
  auto const type = type_named(command.type);
  if (!type) return fail(2, type.message());
  if (!command.options.run.empty() && type->name != "parquet")
    return fail(2, "--run is for --type parquet alone");
  auto files = named_captures(command.files);
  if (!files) return fail(1, files.message());
  command.files = *std::move(files);
  return command.files.size() == 1 ? run_alone(command, *type) : run_over_ranks(command, *type);
}

int run_within_memory(export_command& command) {
  auto const named = command.files.front();
  try {
    return within_memory(
        command.memory_gib, named, [&] { return run(command); },
        [](std::string const& line) { return fail(1, line); });
  } catch (export_interrupted const& by) {
    return fail(128 + by.signal, "interrupted, nothing was written");
  }
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<export_command>();
  auto* const command =
      app.add_subcommand("export", "Write captures in the format of another program");
  std::string types = "Types:";
  for (auto const& type : export_types())
    types += "\n  " + std::string(type.name) + ": " + std::string(type.read_by);
  command->footer(types +
                  "\nNothing is left under the name of the output unless all of it is written.\n"
                  "Exit status: 0 done, 1 it could not be done, or --strict and something is "
                  "missing, 2 the command line is wrong.");
  command->add_option("FILE", options->files, capture_names_help)->required();
  auto* const type = command->add_option("-t,--type", options->type,
                                         "TYPE: the format, one of " + listed(type_names()));
  type->required();
  complete_with(type, {.words = type_names()});
  auto* const output =
      command->add_option("-o,--output", options->output,
                          "FILE or FOLDER to write. Default: beside the capture, under its name. "
                          "Of several captures a FOLDER with a file for each rank");
  output->check(not_empty);
  complete_with(output, {.words = {}, .is_file = true});
  command->add_flag("--force-overwrite", options->force_overwrite, "Replace an existing output");
  command
      ->add_option("--run", options->options.run,
                   "NAME of this run of the job: --type parquet puts it into OUT/TABLE/run=NAME")
      ->check(plain_name);
  command->add_flag("--strict", options->strict,
                    "Exit with 1 when the capture lacks anything: it was cut, damaged, or records "
                    "were lost");
  command->add_flag("--index", options->options.index,
                    "sqlite: indexes for SQL of your own; nsys needs none, and the file grows");
  command->add_option("--memory-limit", options->memory_gib, memory_limit_help)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = run_within_memory(*options); });
}

}  // namespace gpuprof::host::command
