// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rule_names.hpp"

namespace gpuprof::advise {

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

}  // namespace gpuprof::advise
