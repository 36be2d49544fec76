// SPDX-License-Identifier: Apache-2.0
#include "host/compare/run_digest.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace gpuprof::host::compare {
namespace {

std::string without_folder(std::string const& path) {
  auto const slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool is_interpreter(std::string_view program) {
  constexpr std::array<std::string_view, 8> names = {"python", "pypy", "perl", "ruby",
                                                     "node",   "bash", "sh",   "julia"};
  return std::any_of(names.begin(), names.end(), [&](auto name) {
    return program.starts_with(name) &&
           program.find_first_not_of("0123456789.", name.size()) == program.npos;
  });
}

}  // namespace

std::string program_of(run_digest const& run) {
  std::istringstream words(run.command_line);
  std::string word, first;
  words >> first;
  auto program = without_folder(run.program.empty() ? first : run.program);
  if (!is_interpreter(program)) return program;
  while (words >> word)
    if (!word.starts_with('-')) return without_folder(word);
  return program;
}

std::string programs_differ(std::span<run_digest const> base, std::span<run_digest const> fresh) {
  for (auto const& before : base)
    for (auto const& after : fresh) {
      auto const a = program_of(before), b = program_of(after);
      if (!a.empty() && !b.empty() && a != b)
        return before.path + " is of " + a + ", " + after.path + " of " + b;
    }
  return {};
}

}  // namespace gpuprof::host::compare
