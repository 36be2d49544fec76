#include "capture_files.hpp"

#include "base/clock.hpp"
#include "session/output_name.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuprof {
namespace {

std::string with_percents_doubled(std::string const& text) {
  std::string doubled;
  for (char const c : text) doubled.append(c == '%' ? 2 : 1, c);
  return doubled;
}

/// For glob(): any number stands for %n and %p, the rest is taken letter by letter.
std::string glob_of(std::string const& pattern) {
  constexpr char number = '\x01';  // in no file name a user would type
  auto facts = naming_facts_of_this_process();
  std::string escaped;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] == 'p') {
      escaped += "%n";
      ++i;
    } else if (pattern[i] == '%' && i + 1 < pattern.size()) {
      escaped += pattern[i];
      escaped += pattern[++i];
    } else {
      escaped += pattern[i];
    }
  }
  // The rank of this process says nothing about those of the program: all are listed, see below. A
  // pattern with %q gets no rank added.
  if (pattern.find("%q") == std::string::npos) {
    facts.environment = [](std::string const&) { return std::optional<std::string>{}; };
  }
  std::string result;
  for (char const c : expand_output_name(escaped, facts, std::string(1, number))) {
    if (c == number) {
      result += "[0-9]*";
    } else {
      if (std::strchr("*?[\\", c) != nullptr) result += '\\';
      result += c;
    }
  }
  return result;
}

void add_changed(std::vector<written_capture>& captures, std::string const& glob_pattern,
                 std::uint64_t started) {
  glob_t found{};
  if (glob(glob_pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      struct stat info {};
      if (stat(found.gl_pathv[i], &info) != 0 || !S_ISREG(info.st_mode)) continue;
      auto const changed = static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000u +
                           static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
      if (changed < started) continue;
      captures.push_back({found.gl_pathv[i], static_cast<std::uint64_t>(info.st_size)});
    }
  }
  globfree(&found);
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
  // What is there is replaced by a new file, which takes the right to write in its folder too.
  auto const file_is_kept = is_there && access(path.c_str(), W_OK) != 0;
  if (file_is_kept || access(folder.c_str(), W_OK | X_OK) != 0) {
    return error{"the capture cannot be written to " + (file_is_kept ? path : folder) + ": " +
                 std::strerror(errno) + advice};
  }
  return {};
}

std::uint64_t file_clock_ns() noexcept {
  return read_clock(CLOCK_REALTIME_COARSE);  // the clock from which the kernel stamps files
}

std::vector<written_capture> captures_since(std::uint64_t started, std::string const& pattern) {
  std::vector<written_capture> captures;
  auto const plain = glob_of(pattern);
  add_changed(captures, plain, started);
  // Where names met, a rank or a process id was put before the extension.
  auto const stem = plain.substr(0, plain.size() - std::strlen(".gpuprof"));
  add_changed(captures, stem + ".rank[0-9]*.gpuprof", started);
  add_changed(captures, stem + ".pid[0-9]*.gpuprof", started);
  auto const by_path = [](auto const& a, auto const& b) { return a.path < b.path; };
  auto const same_path = [](auto const& a, auto const& b) { return a.path == b.path; };
  std::sort(captures.begin(), captures.end(), by_path);
  captures.erase(std::unique(captures.begin(), captures.end(), same_path), captures.end());
  return captures;
}

}  // namespace gpuprof
