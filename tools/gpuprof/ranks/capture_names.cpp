// SPDX-License-Identifier: Apache-2.0
#include "ranks/capture_names.hpp"

#include <algorithm>
#include <filesystem>
#include <glob.h>
#include <set>
#include <string>

namespace gpuprof::host::command {
namespace {

/// Finds the capture that a user names.
///
/// "run" means run.gpuprof, as after `gpuprof profile -o run`, if there is no file "run".
inline std::string named_capture(std::string const& name) {
  std::error_code none;
  if (std::filesystem::is_regular_file(name, none)) return name;
  auto with_extension = name + ".gpuprof";
  return std::filesystem::is_regular_file(with_extension, none) ? with_extension : name;
}

namespace fs = std::filesystem;

result<std::vector<std::string>> captures_in(std::string const& folder) {
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code none;
    if (entry->path().extension() == ".gpuprof" && entry->is_regular_file(none))
      found.push_back(entry->path().string());
  }
  if (failed) return error{"the folder " + folder + " cannot be read: " + failed.message()};
  if (found.empty())
    return error{"the folder " + folder + " holds no captures (*.gpuprof); name another, or files"};
  std::sort(found.begin(), found.end());
  return found;
}

result<std::vector<std::string>> matches_of(std::string const& pattern) {
  glob_t matches{};
  auto const status = glob(pattern.c_str(), 0, nullptr, &matches);
  std::vector<std::string> found;
  for (std::size_t i = 0; status == 0 && i < matches.gl_pathc; ++i)
    found.emplace_back(matches.gl_pathv[i]);
  globfree(&matches);
  if (found.empty()) return error{"no file matches " + pattern};
  return found;
}

result<std::vector<std::string>> captures_of(std::string const& name) {
  std::error_code none;
  auto file = named_capture(name);
  if (fs::is_regular_file(file, none)) return std::vector<std::string>{std::move(file)};
  if (fs::is_directory(name, none)) return captures_in(name);
  if (name.find_first_of("*?[") != std::string::npos) return matches_of(name);
  return std::vector<std::string>{name};
}

}  // namespace

result<std::vector<std::string>> named_captures(std::span<std::string const> names) {
  std::vector<std::string> all;
  std::set<fs::path> seen;
  for (auto const& name : names) {
    auto found = captures_of(name);
    if (!found) return error{found.message()};
    for (auto& path : *found) {
      std::error_code none;
      auto key = fs::weakly_canonical(path, none);
      if (none) key = path;
      if (seen.insert(std::move(key)).second) all.push_back(std::move(path));
    }
  }
  return all;
}

}  // namespace gpuprof::host::command
