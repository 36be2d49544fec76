// SPDX-License-Identifier: Apache-2.0
#include "host/reading/capture_rank.hpp"

namespace gpuprof::host {

std::optional<process_rank> rank_of_capture(trace_contents const& trace) {
  return rank_in_capture([&](std::string const& variable) -> std::optional<std::string> {
    auto value = trace.fact("environment." + variable);
    if (value.empty()) return std::nullopt;
    return value;
  });
}

process_rank rank_or_only_one(trace_contents const& trace) {
  return rank_of_capture(trace).value_or(process_rank{});
}

}  // namespace gpuprof::host
