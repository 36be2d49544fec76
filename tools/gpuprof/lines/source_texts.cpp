// SPDX-License-Identifier: Apache-2.0
#include "lines/source_texts.hpp"

#include <fstream>
#include <sys/stat.h>

namespace gpuprof::host::command {
namespace {

constexpr long max_bytes = 8 << 20;

bool is_older(std::string const& file, timestamp_ns than) noexcept {
  struct stat about {};
  if (stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > max_bytes)
    return false;
  auto const changed = static_cast<std::uint64_t>(about.st_mtim.tv_sec) * 1'000'000'000 +
                       static_cast<std::uint64_t>(about.st_mtim.tv_nsec);
  return changed <= than.value;
}

}  // namespace

std::vector<std::string> const& source_texts::lines_of(std::string const& file) {
  auto const [place, is_new] = files_.try_emplace(file);
  if (!is_new || !is_older(file, captured_)) return place->second;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) place->second.push_back(line);
  return place->second;
}

std::string source_texts::line(std::string const& file, std::uint32_t number) {
  auto const& lines = lines_of(file);
  if (number == 0 || number > lines.size()) return {};
  auto const& line = lines[number - 1];
  auto const first = line.find_first_not_of(" \t");
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace gpuprof::host::command
