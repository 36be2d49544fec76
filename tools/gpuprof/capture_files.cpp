// SPDX-License-Identifier: Apache-2.0
#include "capture_files.hpp"

#include "base/time.hpp"
#include "guest/options/output_name.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuprof::host::command {

using namespace guest;

namespace {

std::string with_percents_doubled(std::string const& text) {
  std::string doubled;
  for (char const c : text) doubled.append(c == '%' ? 2 : 1, c);
  return doubled;
}

}  // namespace

std::string absolute_output(std::string const& pattern) {
  if (pattern.starts_with('/')) return pattern;
  std::error_code failed;
  auto const here = std::filesystem::current_path(failed);
  if (failed) return pattern;
  return with_percents_doubled(here.string()) + "/" + pattern;
}

result<void> check_output(settings const& s) {
  auto const chosen = choose_capture_path(s, naming_facts_of_this_process());
  if (!chosen) return error{chosen.message()};
  auto const& path = chosen->path;
  auto folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  struct stat info {};
  std::string const advice = ". Choose another --output";
  if (stat(folder.c_str(), &info) != 0) {
    return error{"the capture cannot be written to " + folder + ": " + std::strerror(errno) +
                 ". Create the folder or choose another --output"};
  }
  if (!S_ISDIR(info.st_mode)) {
    return error{"the capture cannot be written to " + folder + ": it is not a folder" + advice};
  }
  bool const is_there = lstat(path.c_str(), &info) == 0;
  if (is_there && !S_ISREG(info.st_mode)) {
    return error{"the capture cannot be written: " + path + " is a " +
                 (S_ISLNK(info.st_mode) ? "link, which is not followed" : "folder") + advice};
  }
  // A new file replaces the existing one, so its folder must be writable, too.
  auto const file_is_kept = is_there && access(path.c_str(), W_OK) != 0;
  if (file_is_kept || access(folder.c_str(), W_OK | X_OK) != 0) {
    return error{"the capture cannot be written to " + (file_is_kept ? path : folder) + ": " +
                 std::strerror(errno) + advice};
  }
  return {};
}

std::uint64_t file_clock_ns() noexcept {
  return read_clock(CLOCK_REALTIME_COARSE);  // the clock of the kernel's file times
}

}  // namespace gpuprof::host::command
