// SPDX-License-Identifier: Apache-2.0
#include "analyze/analyze_at_end.hpp"

#include "analyze/analyze_output.hpp"
#include "analyze/read_advice.hpp"
#include "memory_limit.hpp"

#include <cstdio>
#include <filesystem>

namespace gpuprof::host::command {

void analyze_at_end(std::vector<std::string> const& captures) {
  advice_inputs inputs;
  std::error_code none;
  for (auto const& path : captures)
    if (std::filesystem::is_regular_file(path, none)) inputs.captures.push_back(path);
  if (inputs.captures.empty()) return;
  auto const say = [](std::string const& line) {
    std::fprintf(stderr, "gpuprof: --analyze: %s\n", line.c_str());
    return 1;
  };
  within_memory(
      default_memory_gib, inputs.captures.size() == 1 ? inputs.captures.front() : "these captures",
      [&] {
        auto const outcome = read_advice(inputs);
        if (!outcome.made) return say(outcome.failure.message);
        std::fputc('\n', stderr);
        print_advice(*outcome.made, stderr);
        return 0;
      },
      say);
}

}  // namespace gpuprof::host::command
