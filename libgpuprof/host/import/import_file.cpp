// SPDX-License-Identifier: Apache-2.0
#include "base/readable.hpp"
#include "host/import/capture_making.hpp"
#include "host/import/import_job.hpp"
#include "host/import/source_readers.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace gpuprof::host {
namespace {

/// Handles only the names, because capture::writer creates the file itself. Throws import_failure.
class unfinished_capture {
 public:
  /// Unless `overwrite` is set, `path` must not exist.
  unfinished_capture(std::string path, bool overwrite);
  unfinished_capture(unfinished_capture&& other) noexcept;
  unfinished_capture& operator=(unfinished_capture&&) = delete;
  ~unfinished_capture();

  std::string const& path() const noexcept { return path_; }
  std::string const& temporary_path() const noexcept { return temporary_; }

  /// Syncs the file to disk and renames it. On failure no file remains.
  void finish();

 private:
  std::string path_;
  std::string temporary_;  // empty: already renamed
  bool overwrite_;
};

/// In the same folder, so that the rename is one step. The name begins with a dot, so that no glob
/// takes it for a capture.
std::string temporary_for(std::string const& path) {
  std::filesystem::path const whole(path);
  auto const name = "." + whole.filename().string() + ".unfinished-" + std::to_string(getpid());
  return (whole.parent_path() / name).string();
}

[[noreturn]] void cannot_write(std::string const& path, int error) {
  throw import_failure("cannot write " + path + ": " + std::strerror(error) +
                       "; nothing is left of it, choose another place with --output");
}

unfinished_capture::unfinished_capture(std::string path, bool overwrite)
    : path_(std::move(path)), temporary_(temporary_for(path_)), overwrite_(overwrite) {
  std::error_code ignored;
  auto const there = std::filesystem::status(path_, ignored);
  if (std::filesystem::is_directory(there)) throw import_failure(path_ + " is a folder");
  if (!overwrite && std::filesystem::exists(there))
    throw import_failure(path_ +
                         " exists already and is not replaced; use --force-overwrite or another "
                         "name for --output");
}

unfinished_capture::unfinished_capture(unfinished_capture&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      overwrite_(other.overwrite_) {}

unfinished_capture::~unfinished_capture() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void unfinished_capture::finish() {
  auto const descriptor = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(path_, errno);
  auto error = fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
  close(descriptor);
  if (error == 0) {
    auto const renamed = renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
                                   overwrite_ ? 0 : RENAME_NOREPLACE);
    // Some file systems support no rename flags.
    if (renamed != 0 && (errno != EINVAL || rename(temporary_.c_str(), path_.c_str()) != 0))
      error = errno;
  }
  if (error != 0) cannot_write(path_, error);
  temporary_.clear();
}

constexpr std::string_view extension = ".gpuprof";

std::string first_bytes(std::string const& path) {
  std::error_code ignored;
  auto const kind = std::filesystem::status(path, ignored).type();
  if (kind == std::filesystem::file_type::fifo || kind == std::filesystem::file_type::character)
    throw import_failure(path + " is a pipe, which can be read only once; nothing is written, " +
                         "write it to a file first");
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

struct known_file {
  std::string_view begins, ends_in;  // first bytes of the file, and end of its name; empty: any
  char const* what;
};
constexpr known_file known_files[] = {
    {"\x89GPUP", "", "is a capture of gpuprof already"},
    {"", ".nsys-rep",
     "is a report of Nsight Systems: turn it into a database first, with nsys export --type "
     "sqlite"},
    {"", ".qdrep",
     "is a report of Nsight Systems: turn it into a database first, with nsys export --type "
     "sqlite"},
    {"", ".qdstrm", "is a recording of Nsight Systems that was not finished"},
    {"", ".ncu-rep", "is a report of Nsight Compute, which holds no timeline"},
    {"PK\x03\x04", "", "is a zip archive: unpack it first"},
    {"\x28\xb5\x2f\xfd", "", "is compressed with zstd: unpack it first"},
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "", "is compressed with xz: unpack it first"},
    {"BZh", "", "is compressed with bzip2: unpack it first"},
    {"\x04\x22\x4d\x18", "", "is compressed with lz4: unpack it first"},
    {"7z\xbc\xaf", "", "is a 7z archive: unpack it first"},
    {"\x80\x04", ".pickle", "is a memory snapshot of PyTorch, which holds no timeline"},
    {"PAR1", "", "is a Parquet file"},
    {"", ".xplane.pb", "is a profile of XLA, which is not read; export it as a trace in JSON"},
    {"\x0a", ".pftrace", "is a trace of Perfetto, which is not read"},
    {"\x0a", ".perfetto-trace", "is a trace of Perfetto, which is not read"},
    {"", ".rpd", "is a database of rocmProfileData: turn it into a trace in JSON first"}};

/// Says what kind of file it is. Null if the kind is not known.
char const* what_it_is(std::string const& path, std::string_view head) {
  for (auto const& one : known_files) {
    auto const has_bytes = !one.begins.empty() && head.starts_with(one.begins);
    auto const has_name = !one.ends_in.empty() && path.ends_with(one.ends_in);
    // These first bytes are too common, so the name must match too.
    if (one.begins.size() == 1 || one.begins == "\x80\x04" ? has_bytes && has_name
                                                           : has_bytes || has_name)
      return one.what;
  }
  constexpr std::size_t tar_mark = 257;
  if (head.size() > tar_mark && head.substr(tar_mark).starts_with("ustar"))
    return "is a tar archive: unpack it first";
  return nullptr;
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
  if (auto const* const known = what_it_is(path, head)) refuse(path, known);
  refuse(path,
         "is neither a database that nsys export --type sqlite has written nor a trace in "
         "JSON (.json, .json.gz)");
}

/// Returns "run.gpuprof", or "run.4711.gpuprof" if there are several processes.
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

void note_losses(imported_process const& process, import_outcome& outcome) {
  std::string line;
  for (auto const& [what, count] : process.losses()) {
    auto words = what;
    for (auto& c : words)
      if (c == '_') c = ' ';
    line += (line.empty() ? "" : ", ") + counted(count, words);
  }
  if (line.empty()) return;
  outcome.lacks_something = true;
  outcome.notes.push_back("not taken from " +
                          (process.process_id ? "process " + std::to_string(*process.process_id)
                                              : std::string("the file")) +
                          ": " + line);
}

void write_all(imported_processes& processes, import_job const& job, import_outcome& outcome) {
  std::vector<unfinished_capture> captures;
  std::set<std::string> names;
  for (auto const& process : processes) {
    auto name = output_of(job.options.output, *process, processes.size() > 1);
    // Two containers may have the same process id.
    while (!names.insert(name).second) name.insert(name.size() - extension.size(), "b");
    captures.emplace_back(name, job.options.overwrite);
  }
  std::vector<std::uint64_t> declared_for(job.options.declared.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    job.begin("writing " + captures[i].path(), rows_of(*processes[i]));
    auto const counts = write_capture(*processes[i], job, captures[i].temporary_path());
    for (std::size_t at = 0; at < counts.size(); ++at) declared_for[at] += counts[at];
    note_losses(*processes[i], outcome);  // some losses are known only now
    processes[i].reset();
  }
  note_undeclared(job, declared_for, outcome);
  for (auto& capture : captures) {
    capture.finish();
    outcome.written.push_back(capture.path());
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
    // Checked before the long work, so that an error comes early.
    { unfinished_capture const check(job.options.output, job.options.overwrite); }
    source_reading reading{job, folder_of(job.options.output), outcome};
    auto processes = read(reading);
    write_all(processes, job, outcome);
    return outcome;
  } catch (import_failure const& failure) {
    return error{failure.what()};
  }
}

}  // namespace gpuprof::host
