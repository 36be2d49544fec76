// SPDX-License-Identifier: Apache-2.0
#include "replay/nvml/gpu_use.hpp"

#include "replay/format/word_list.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace gpuprof::replay {
namespace {

fake_process process_from(std::string const& word) {
  auto const colon = word.find(':');
  auto const pid = word.substr(0, colon);
  fake_process p;
  p.pid = pid == "self" ? static_cast<unsigned>(getpid())
                        : static_cast<unsigned>(std::strtoul(pid.c_str(), nullptr, 10));
  if (colon != std::string::npos)
    p.memory_bytes = std::strtoull(word.c_str() + colon + 1, nullptr, 10);
  return p;
}

}  // namespace

unsigned next_gpu_percent() {
  static auto const* const words = new auto(words_in_variable("REPLAY_GPU_PERCENT"));
  static std::atomic<std::size_t> next{0};
  if (words->empty()) return 0;
  auto const at = std::min(next.fetch_add(1), words->size() - 1);
  return static_cast<unsigned>(std::strtoul((*words)[at].c_str(), nullptr, 10));
}

std::vector<fake_process> const& fake_processes() {
  static auto const* const processes = [] {
    auto* const made = new std::vector<fake_process>;
    for (auto const& word : words_in_variable("REPLAY_GPU_PROCESSES"))
      made->push_back(process_from(word));
    return made;
  }();
  return *processes;
}

bool fake_gpu_is_slice() {
  static bool const is_slice = !words_in_variable("REPLAY_GPU_MIG").empty();
  return is_slice;
}

}  // namespace gpuprof::replay
