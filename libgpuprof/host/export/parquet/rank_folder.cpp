// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/rank_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace gpuprof::host {
namespace {

namespace fs = std::filesystem;

// Written for every capture, after all other tables.
constexpr char last_table[] = "capture";

/// Returns the tables of `out` that already have this partition.
std::vector<fs::path> holding(fs::path const& out, table_partition const& part) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (auto const& table : fs::directory_iterator(out, failed))
    if (fs::exists(table.path() / part.path(), failed)) found.push_back(table.path() / part.path());
  return found;
}

/// True if a table is divided by runs and ranks but this capture by ranks only, or the reverse:
/// readers accept no mixture.
bool divides_otherwise(fs::path const& out, table_partition const& part) {
  std::error_code failed;
  for (auto const& entry : fs::directory_iterator(out / last_table, failed))
    if (entry.path().filename().string().starts_with("run=") == part.run.empty()) return true;
  return false;
}

}  // namespace

std::string table_partition::path() const {
  return (run.empty() ? "" : "run=" + run + "/") + "rank=" + std::to_string(rank);
}

result<rank_folder> rank_folder::create(std::string const& out, table_partition part,
                                        bool overwrite) {
  if (divides_otherwise(out, part))
    return error{out + (part.run.empty() ? " is divided by --run; name one for this capture too, "
                                           "or another --output"
                                         : " is not divided by --run; leave it away, or use "
                                           "another --output")};
  if (!overwrite && !holding(out, part).empty())
    return error{out + " holds " + part.path() +
                 " already, which is not replaced; use --force-overwrite, another --output, or "
                 "--run for another run of the job"};
  auto folder = shared_folder::open(out, "rank=" + std::to_string(part.rank));
  if (!folder) return error{folder.message()};
  return rank_folder(std::move(*folder), std::move(part), overwrite);
}

rank_folder::rank_folder(shared_folder folder, table_partition part, bool overwrite)
    : folder_(std::move(folder)), part_(std::move(part)), overwrite_(overwrite) {}

result<std::string> rank_folder::file_of(std::string_view table) {
  auto const folder = folder_.temporary() / table;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return folder_.cannot_write(failed);
  tables_.emplace_back(table);
  return (folder / "part-0.parquet").string();
}

result<void> rank_folder::finish() {
  std::error_code failed;
  // Also removes the tables that only the previous capture had.
  if (overwrite_)
    for (auto const& old : holding(folder_.path(), part_))
      if (fs::remove_all(old, failed); failed) return folder_.cannot_write(failed);
  std::stable_partition(tables_.begin(), tables_.end(),
                        [](auto const& table) { return table != last_table; });
  std::vector<shared_folder::addition> additions;
  for (auto const& table : tables_) additions.push_back({table, fs::path(table) / part_.path()});
  return folder_.add(additions, overwrite_);
}

}  // namespace gpuprof::host
