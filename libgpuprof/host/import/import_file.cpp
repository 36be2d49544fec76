// SPDX-License-Identifier: Apache-2.0
#include "host/import/import_file.hpp"

#include "base/readable.hpp"
#include "host/import/capture_making.hpp"
#include "host/import/source_readers.hpp"
#include "host/import/unfinished_capture.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>

namespace gpuprof {
namespace {

constexpr std::string_view extension = ".gpuprof";

std::string first_bytes(std::string const& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  if (file == nullptr)
    throw import_failure("cannot read " + path + ": " + std::strerror(errno) +
                         "; nothing is written, check the name");
  std::string bytes(512, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  if (std::ferror(file.get()) != 0)
    throw import_failure("cannot read " + path + ": " + std::strerror(errno) +
                         "; nothing is written");
  return bytes;
}

[[noreturn]] void refuse(std::string const& path, std::string const& why) {
  throw import_failure(path + " " + why + "; nothing is written");
}

using source_reader = imported_processes (*)(source_reading&);

source_reader reader_of(std::string const& path) {
  auto const head = first_bytes(path);
  if (head.starts_with(std::string_view("SQLite format 3\0", 16))) return read_nsys_database;
  if (head.starts_with("\x1f\x8b")) return read_kineto_trace;
  auto const text = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (text != std::string::npos && (head[text] == '{' || head[text] == '['))
    return read_kineto_trace;
  if (head.empty()) refuse(path, "is empty");
  if (head.starts_with("\x89GPUP")) refuse(path, "is a capture of gpuprof already");
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
    refuse(path,
           "is a report of Nsight Systems: turn it into a database first, with nsys export "
           "--type sqlite");
  refuse(path,
         "is neither a database that nsys export --type sqlite has written nor a trace in "
         "JSON (.json, .json.gz)");
}

/// "run.gpuprof", or "run.4711.gpuprof" where there are several.
std::string output_of(std::string const& output, imported_process const& process, bool several) {
  if (!several) return output;
  auto name = output;
  if (name.ends_with(extension)) name.resize(name.size() - extension.size());
  return name + "." + std::to_string(process.process_id.value_or(0)) + std::string(extension);
}

void note_undeclared(import_job const& job, std::vector<std::uint64_t> const& counts,
                     import_outcome& outcome) {
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] == 0)
      outcome.notes.push_back("--flops has no effect: no range is called '" +
                              job.options.declared[i].name + "'; gpuprof stats -r nvtx_sum lists " +
                              "what there is");
}

void write_all(imported_processes& processes, import_job const& job, import_outcome& outcome) {
  std::vector<unfinished_capture> captures;
  std::set<std::string> names;
  for (auto const& process : processes) {
    auto name = output_of(job.options.output, *process, processes.size() > 1);
    // Process ids of two containers may be equal.
    while (!names.insert(name).second) name.insert(name.size() - extension.size(), "b");
    captures.emplace_back(name, job.options.overwrite);
  }
  std::vector<std::uint64_t> declared_for(job.options.declared.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    job.begin("writing " + captures[i].path(), rows_of(*processes[i]));
    auto const counts = write_capture(*processes[i], job, captures[i].temporary_path());
    for (std::size_t at = 0; at < counts.size(); ++at) declared_for[at] += counts[at];
    processes[i].reset();
  }
  note_undeclared(job, declared_for, outcome);
  for (auto& capture : captures) {
    capture.finish();
    outcome.written.push_back(capture.path());
  }
}

void note_losses(imported_processes const& processes, import_outcome& outcome) {
  for (auto const& process : processes) {
    std::string line;
    for (auto const& [what, count] : process->losses()) {
      auto words = what;
      for (auto& c : words)
        if (c == '_') c = ' ';
      line += (line.empty() ? "" : ", ") + counted(count, words);
    }
    if (line.empty()) continue;
    outcome.lacks_something = true;
    outcome.notes.push_back("not taken from " +
                            (process->process_id ? "process " + std::to_string(*process->process_id)
                                                 : std::string("the file")) +
                            ": " + line);
  }
}

std::string folder_of(std::string const& path) {
  auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

result<import_outcome> import_file(import_job const& job) {
  try {
    import_outcome outcome;
    auto const read = reader_of(job.options.source);
    // Said before long work, not after it.
    { unfinished_capture const check(job.options.output, job.options.overwrite); }
    source_reading reading{job, folder_of(job.options.output), outcome};
    auto processes = read(reading);
    note_losses(processes, outcome);
    write_all(processes, job, outcome);
    return outcome;
  } catch (import_failure const& failure) {
    return error{failure.what()};
  }
}

}  // namespace gpuprof
