// SPDX-License-Identifier: Apache-2.0
#include "host/advice/advice.hpp"
#include "host/advice/rule.hpp"

#include <array>

namespace gpuprof::host::advice {

std::string_view name_of(rule_group group) noexcept {
  constexpr std::array<std::string_view, 6> names = {"kernel",          "launches",      "memory",
                                                     "synchronization", "communication", "input"};
  return names[static_cast<std::size_t>(group)];
}

std::vector<rule const*> const& all_rules() {
  static auto const all = [] {
    std::vector<rule const*> rules;
    for (auto const group : {kernel_rules(), group_rules(), launch_rules(), memory_rules(),
                             wait_rules(), communication_rules(), input_rules()})
      for (auto const& one : group) rules.push_back(&one);
    return rules;
  }();
  return all;
}

std::string how_to_record(data_set missing) {
  struct way {
    data what;
    std::string_view how;
  };
  constexpr way ways[] = {
      {data::kernels, "a program that uses the GPU while it is captured"},
      {data::blocking_calls, "--trace cuda,nvtx,blocking"},
      {data::all_calls, "--trace cuda-api"},
      {data::ranges, "NVTX ranges in the program"},
      {data::steps, "an NVTX range that repeats, such as one around each step"},
      {data::counters, "--metrics auto"},
      {data::peaks, "gpuprof peaks, once on this machine"},
      {data::explain, "launches that --metrics auto --set explain reads"},
      {data::unified_memory, "--trace um"},
      {data::several_ranks, "the captures of all ranks on the command line"},
      {data::clocks, "--metrics auto"},
      {data::streams, "a capture of kernels, which this version looks through for streams"},
      {data::declared, "ranges around single kernels that declare their FLOP (gpuprof::work)"},
      {data::peer_peaks, "gpuprof peaks --only p2p, once on this machine with all its GPUs"},
  };
  std::string text;
  for (auto const& [what, how] : ways)
    if (missing.has(what)) text += (text.empty() ? "" : ", ") + std::string(how);
  return text;
}

rule const* find_rule(std::string_view name) noexcept {
  for (auto const* one : all_rules())
    if (one->name == name) return one;
  return nullptr;
}

std::vector<std::string> names_of(data_set what) {
  constexpr std::pair<data, std::string_view> names[] = {
      {data::kernels, "kernels"},
      {data::blocking_calls, "blocking_calls"},
      {data::all_calls, "all_calls"},
      {data::ranges, "ranges"},
      {data::steps, "steps"},
      {data::counters, "counters"},
      {data::peaks, "peaks"},
      {data::explain, "explain"},
      {data::unified_memory, "unified_memory"},
      {data::several_ranks, "several_ranks"},
      {data::clocks, "clocks"},
      {data::streams, "streams"},
      {data::peer_peaks, "peer_peaks"},
      {data::declared, "declared_flop"},
  };
  std::vector<std::string> found;
  for (auto const& [one, name] : names)
    if (what.has(one)) found.emplace_back(name);
  return found;
}

}  // namespace gpuprof::host::advice
