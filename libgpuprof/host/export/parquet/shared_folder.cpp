// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/shared_folder.hpp"

#include "host/export/unfinished_output.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace gpuprof::host {

namespace fs = std::filesystem;

result<shared_folder> shared_folder::open(std::string out, std::string const& adder) {
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  std::error_code failed;
  auto const is_there = fs::exists(out, failed);
  if (is_there && !fs::is_directory(out, failed)) return error{out + " is a file, not a folder"};
  if (is_there && !fs::is_empty(out, failed) && !fs::exists(fs::path(out) / export_marker, failed))
    return error{out +
                 " holds files that no export has written and is not added to; use another name "
                 "for --output"};
  // If a step below fails, `made` removes what was created.
  shared_folder made(out, fs::path(out) / ("." + adder + ".unfinished-" + std::to_string(getpid())),
                     !is_there);
  fs::create_directories(made.out_, failed);
  // Written first, because other processes that arrive now look for it.
  if (!failed) std::ofstream(made.out_ / export_marker) << "made by gpuprof export\n";
  if (!failed) fs::remove_all(made.temporary_, failed);  // left by a process that had our pid
  if (!failed) fs::create_directory(made.temporary_, failed);
  if (failed) return made.cannot_write(failed);
  return made;
}

shared_folder::shared_folder(fs::path out, fs::path temporary, bool is_new)
    : out_(std::move(out)), temporary_(std::move(temporary)), is_new_(is_new) {}

shared_folder::shared_folder(shared_folder&& other) noexcept
    : out_(std::move(other.out_)),
      temporary_(std::exchange(other.temporary_, {})),
      is_new_(other.is_new_) {}

shared_folder::~shared_folder() {
  std::error_code ignored;
  if (temporary_.empty()) return;
  fs::remove_all(temporary_, ignored);
  if (!is_new_) return;
  // Other processes may have added files meanwhile: only an empty folder is removed.
  for (auto const& entry : fs::directory_iterator(out_, ignored))
    if (entry.path().filename() != export_marker) return;
  fs::remove(out_ / export_marker, ignored);
  fs::remove(out_, ignored);
}

result<void> shared_folder::add(std::vector<addition> const& additions, bool overwrite) {
  std::error_code failed, ignored;
  std::vector<fs::path> added;
  for (auto const& [from, to] : additions) {
    auto const place = out_ / to;
    fs::create_directories(place.parent_path(), failed);
    if (!failed && overwrite) fs::remove_all(place, failed);
    // Keeps what another export has put there meanwhile.
    if (!failed && renameat2(AT_FDCWD, (temporary_ / from).c_str(), AT_FDCWD, place.c_str(),
                             RENAME_NOREPLACE) != 0)
      failed.assign(errno, std::generic_category());
    if (failed) {
      for (auto const& half : added) fs::remove_all(half, ignored);
      return cannot_write(failed);
    }
    added.push_back(place);
  }
  fs::remove_all(temporary_, ignored);
  temporary_.clear();
  return {};
}

error shared_folder::cannot_write(std::error_code const& why) const {
  return error{"cannot write " + out_.string() + ": " + why.message() +
               "; nothing is left of it, choose another place with --output"};
}

}  // namespace gpuprof::host
