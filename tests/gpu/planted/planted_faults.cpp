// SPDX-License-Identifier: Apache-2.0
// Programs with one planted fault each, and programs without:
//   gpu_planted NAME [--mended] [--steps N | --seconds S] [--slower PERCENT]
#include "planted.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

using planted::options;

std::map<std::string, int (*)(options const&)> const programs = {
    {"alloc_in_loop", planted::alloc_in_loop},
    {"bank_conflicts", planted::bank_conflicts},
    {"copy_at_the_roof", planted::copy_at_the_roof},
    {"known_waits", planted::known_waits},
    {"late_loader", planted::late_loader},
    {"low_occupancy", planted::low_occupancy},
    {"one_block_too_many", planted::one_block_too_many},
    {"pageable_copies", planted::pageable_copies},
    {"serialized_streams", planted::serialized_streams},
    {"steady", planted::steady},
    {"strided_access", planted::strided_access},
    {"sync_in_loop", planted::sync_in_loop},
    {"tiny_kernels", planted::tiny_kernels}};

/// Whether all words were understood.
bool read(std::vector<std::string> const& words, options& asked) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto const& word = words[i];
    if (word == "--mended") {
      asked.mended = true;
      continue;
    }
    if (i + 1 == words.size()) return false;
    auto const value = std::strtod(words[++i].c_str(), nullptr);
    if (word == "--steps")
      asked.steps = static_cast<unsigned>(value);
    else if (word == "--seconds")
      asked.seconds = value;
    else if (word == "--slower")
      asked.slower_percent = value;
    else
      return false;
  }
  return true;
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> const words(values + 1, values + count);
  options asked;
  if (words.empty() || programs.count(words[0]) == 0 || !read(words, asked)) {
    std::fprintf(
        stderr,
        "gpu_planted NAME [--mended] [--steps N | --seconds S] [--slower PERCENT], one of:");
    for (auto const& [name, run] : programs) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  return programs.at(words[0])(asked);
}
