// SPDX-License-Identifier: Apache-2.0
#include "host/export/unfinished_folder.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace gpuprof {
namespace {

namespace fs = std::filesystem;

std::string cannot_write(std::string const& path, std::error_code const& why) {
  return "cannot write " + path + ": " + why.message() +
         "; nothing is left of it, choose another place with --output";
}

bool may_replace(fs::path const& folder) {
  std::error_code ignored;
  return fs::exists(folder / export_marker, ignored) || fs::is_empty(folder, ignored);
}

}  // namespace

result<unfinished_folder> unfinished_folder::create(std::string path, bool overwrite) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::error_code failed;
  if (fs::exists(path, failed)) {
    if (!fs::is_directory(path, failed)) return error{path + " is a file, not a folder"};
    if (!overwrite && !fs::is_empty(path, failed))
      return error{path +
                   " exists already and is not replaced; use --force-overwrite or another name "
                   "for --output"};
    if (!may_replace(path))
      return error{path +
                   " holds files that no export has written and is not replaced; use "
                   "another name for --output"};
  }
  fs::path const whole(path);
  auto temporary = (whole.parent_path() /
                    ("." + whole.filename().string() + ".unfinished-" + std::to_string(getpid())))
                       .string();
  fs::remove_all(temporary, failed);
  if (!fs::create_directories(temporary, failed)) return error{cannot_write(path, failed)};
  std::ofstream(temporary + "/" + export_marker) << "made by gpuprof export\n";
  return unfinished_folder(std::move(path), std::move(temporary), overwrite);
}

unfinished_folder::unfinished_folder(std::string path, std::string temporary, bool overwrite)
    : path_(std::move(path)), temporary_(std::move(temporary)), overwrite_(overwrite) {}

unfinished_folder::unfinished_folder(unfinished_folder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      overwrite_(other.overwrite_) {}

unfinished_folder::~unfinished_folder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

result<void> unfinished_folder::finish() {
  std::error_code failed;
  // What came meanwhile is not ours to remove; a folder that is empty gives way by itself.
  if (overwrite_ && fs::exists(path_, failed) && may_replace(path_)) fs::remove_all(path_, failed);
  if (!failed) fs::rename(temporary_, path_, failed);
  if (failed) return error{cannot_write(path_, failed)};
  temporary_.clear();
  return {};
}

}  // namespace gpuprof
