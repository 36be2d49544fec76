// SPDX-License-Identifier: Apache-2.0
#include "guest/options/output_name.hpp"

#include "base/process.hpp"
#include "base/readable.hpp"

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constexpr std::string_view extension = ".gpuprof";
constexpr int max_lost_names = 10;

/// True if it exists and is neither a file nor a folder.
bool is_special_file(std::string const& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/// Calls literal(text) and sequence(letter, variable) for the parts of a pattern. Returns false at
/// the first invalid part.
template <class Literal, class Sequence>
bool walk(std::string_view pattern, Literal literal, Sequence sequence) {
  while (!pattern.empty()) {
    auto const percent = pattern.find('%');
    literal(pattern.substr(0, percent));
    if (percent == std::string_view::npos) return true;
    if (percent + 1 == pattern.size()) return false;
    char const letter = pattern[percent + 1];
    pattern.remove_prefix(percent + 2);
    std::string_view variable;
    if (letter == 'q') {
      auto const close = pattern.find('}');
      if (!pattern.starts_with('{') || close == std::string_view::npos || close == 1) return false;
      variable = pattern.substr(1, close - 1);
      pattern.remove_prefix(close + 1);
    } else if (letter != 'h' && letter != 'p' && letter != 'n' && letter != '%') {
      return false;
    }
    sequence(letter, variable);
  }
  return true;
}

bool has_sequence(std::string_view pattern, std::string_view letters) {
  bool found = false;
  walk(
      pattern, [](std::string_view) {},
      [&](char letter, std::string_view) {
        found = found || letters.find(letter) != std::string_view::npos;
      });
  return found;
}

/// Inserts the suffix before the extension: "a/report.gpuprof" and ".rank1" give
/// "a/report.rank1.gpuprof".
std::string with_suffix(std::string name, std::string const& suffix) {
  auto const at = name.ends_with(extension) ? name.size() - extension.size() : name.size();
  return name.insert(at, suffix);
}

std::string expand_sequences(std::string_view pattern, naming_facts const& facts,
                             std::string const& number) {
  std::string name;
  walk(
      pattern, [&](std::string_view text) { name += text; },
      [&](char letter, std::string_view variable) {
        switch (letter) {
          case 'h':
            name += facts.host;
            break;
          case 'p':
            name += std::to_string(facts.process);
            break;
          case 'n':
            name += number;
            break;
          case 'q':
            name += facts.environment(std::string(variable)).value_or("");
            break;
          default:
            name += '%';
        }
      });
  return name;
}

std::string first_free_name(std::string_view pattern, naming_facts const& facts) {
  for (std::uint64_t number = 1;; ++number) {
    auto name = expand_output_name(pattern, facts, std::to_string(number));
    if (!facts.exists(name)) return name;
  }
}

std::string free_name_of_process(std::string const& name, naming_facts const& facts) {
  auto const own = ".pid" + std::to_string(facts.process);
  auto path = with_suffix(name, own);
  for (std::uint64_t number = 2; facts.exists(path); ++number)
    path = with_suffix(name, own + "-" + std::to_string(number));
  return path;
}

/// True if another process of the same `gpuprof profile` run has written the file, or is about to:
/// replacing an old file may take time.
bool is_of_this_run(std::string const& path, naming_facts const& facts, int lost_names) {
  auto const started = whole_number<std::uint64_t>(facts.environment("GPUPROF_RUN_STARTED"));
  return started && (facts.changed(path) >= *started || lost_names > max_lost_names);
}

}  // namespace

naming_facts naming_facts_of_this_process() {
  return {
      .host = host_name(),
      .process = static_cast<std::uint32_t>(getpid()),
      .environment = [](std::string const& variable) -> std::optional<std::string> {
        char const* const value = secure_getenv(variable.c_str());
        return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
      },
      .exists =
          [](std::string const& path) {
            struct stat info {};
            return lstat(path.c_str(), &info) == 0;
          },
      .changed = [](std::string const& path) -> std::uint64_t {
        struct stat info {};
        if (stat(path.c_str(), &info) != 0) return 0;
        return static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000u +
               static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
      },
      .special = is_special_file,
  };
}

bool is_output_pattern(std::string_view pattern) noexcept {
  auto const last = pattern.substr(pattern.rfind('/') + 1);
  return !last.empty() && last != "." && last != ".." && pattern != "-" &&
         walk(
             pattern, [](std::string_view) {}, [](char, std::string_view) {});
}

std::string expand_output_name(std::string_view pattern, naming_facts const& facts,
                               std::string const& number) {
  auto name = expand_sequences(pattern, facts, number);
  if (!name.ends_with(extension)) name += extension;
  if (auto const rank = rank_of(facts.environment); rank && !has_sequence(pattern, "hpq")) {
    name = with_suffix(std::move(name), ".rank" + std::to_string(rank->rank));
  }
  return name;
}

result<capture_path> choose_capture_path(settings const& s, naming_facts const& facts,
                                         int lost_names) {
  if (has_sequence(s.output, "n")) {
    auto name = first_free_name(s.output, facts);
    if (lost_names > max_lost_names) name = free_name_of_process(name, facts);
    return capture_path{std::move(name), false};
  }
  auto name = expand_output_name(s.output, facts, "");
  if (name.substr(name.rfind('/') + 1) == extension)
    return error{"nothing is recorded: --output " + s.output +
                 " comes to no name, as the variables in it are not set. Choose another --output"};
  for (auto const& place : {expand_sequences(s.output, facts, ""), name}) {
    if (facts.special(place)) {
      return error{"nothing is recorded: " + place +
                   " is not a regular file. Choose another --output"};
    }
  }
  if (!facts.exists(name)) return capture_path{std::move(name), false};
  if (is_of_this_run(name, facts, lost_names))
    return capture_path{free_name_of_process(name, facts), false};
  if (s.force_overwrite) return capture_path{std::move(name), true};
  return error{"nothing is recorded: " + name +
               " exists already. Choose another --output or replace it with --force-overwrite"};
}

}  // namespace gpuprof::guest
