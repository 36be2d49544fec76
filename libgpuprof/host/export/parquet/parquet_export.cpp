// SPDX-License-Identifier: Apache-2.0
#include "host/export/export_job.hpp"
#include "host/export/parquet/parquet_program.hpp"
#include "host/export/parquet/shared_folder.hpp"
#include "host/reading/capture_rank.hpp"

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <utility>

namespace gpuprof::host {
namespace {

namespace fs = std::filesystem;

bool is_newer(fs::path const& file, fs::path const& than) {
  struct stat a {
  }, b{};
  if (stat(file.c_str(), &a) != 0 || stat(than.c_str(), &b) != 0) return true;  // a file is missing
  return std::pair(a.st_ctim.tv_sec, a.st_ctim.tv_nsec) >
         std::pair(b.st_ctim.tv_sec, b.st_ctim.tv_nsec);
}

/// nsys takes an export as belonging to the report if its inode was changed later. File system
/// clocks advance in steps of some milliseconds.
void make_newer(fs::path const& file, fs::path const& than) {
  using namespace std::chrono_literals;
  for (int tries = 0; tries < 100 && !is_newer(file, than); ++tries) {
    if (tries > 0) std::this_thread::sleep_for(1ms);
    utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  }
}

}  // namespace

result<export_notes> write_parquet(export_job& job, std::string const& path, bool overwrite) {
  auto const written = run_parquet_program(
      job,
      {plugin_order::capture_tables, job.trace.file().path(), path, job.options.run, overwrite});
  if (!written) return error{written.message()};
  return export_notes{};
}

result<export_notes> write_nsys_recipes(export_job& job, std::string const& path, bool overwrite) {
  auto const name = "rank" + std::to_string(rank_or_only_one(job.trace).rank);
  if (!overwrite && fs::exists(fs::path(path) / (name + ".nsys-rep")))
    return error{path + " holds " + name +
                 " already, which is not replaced; use --force-overwrite or another --output"};
  // Checks that the program exists before hours of work.
  if (auto const program = parquet_program(); !program) return error{program.message()};
  auto folder = shared_folder::open(path, name);
  if (!folder) return error{folder.message()};
  auto const database = folder->temporary() / (name + ".sqlite");
  auto const tables = folder->temporary() / (name + "_pqtdir");
  std::ofstream const report(folder->temporary() / (name + ".nsys-rep"));  // an empty file
  auto notes = write_sqlite(job, database.string(), false);
  if (!notes) return notes;
  std::error_code failed;
  if (fs::create_directory(tables, failed); failed) return folder->cannot_write(failed);
  auto const written = run_parquet_program(
      job, {plugin_order::database_tables, database.string(), tables.string(), {}, false});
  if (!written) return error{written.message()};
  std::vector<shared_folder::addition> additions;
  for (auto const* const end : {".nsys-rep", ".sqlite", "_pqtdir"})
    additions.push_back({name + end, name + end});
  if (auto const done = folder->add(additions, overwrite); !done) return error{done.message()};
  auto const place = fs::path(path);
  make_newer(place / (name + ".sqlite"), place / (name + ".nsys-rep"));
  for (auto const& table : fs::directory_iterator(place / (name + "_pqtdir"), failed))
    make_newer(table, place / (name + ".nsys-rep"));
  return notes;
}

}  // namespace gpuprof::host
