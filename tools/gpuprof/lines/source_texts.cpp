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

source_texts::source_texts(trace_contents& trace) : captured_(trace.origin()) {
  auto const text = trace.text();
  trace.file().for_each<source_line_record>([&](std::span<source_line_record const> rows) {
    for (auto const& row : rows)
      stored_.try_emplace({std::string(text(row.file)), row.line}, text(row.text));
  });
}

std::vector<std::string> const& source_texts::lines_of(std::string const& file) {
  auto const [place, is_new] = files_.try_emplace(file);
  if (!is_new || !is_older(file, captured_)) return place->second;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) place->second.push_back(line);
  return place->second;
}

std::string source_texts::line(std::string const& file, std::uint32_t number) {
  if (auto const stored = stored_.find({file, number}); stored != stored_.end())
    return stored->second;
  auto const& lines = lines_of(file);
  if (number == 0 || number > lines.size()) return {};
  auto const& line = lines[number - 1];
  auto const first = line.find_first_not_of(" \t");
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace gpuprof::host::command
