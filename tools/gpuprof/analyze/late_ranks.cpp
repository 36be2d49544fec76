// SPDX-License-Identifier: Apache-2.0
#include "analyze/late_ranks.hpp"

#include "analyse/ranks/rank_lateness.hpp"

#include <algorithm>

namespace gpuprof {

std::vector<advise::rank_facts> late_ranks(std::span<ranked_capture const> captures,
                                           std::span<rank_digest const> digests, double step_ns) {
  std::vector<collective_occurrences const*> occurrences;
  std::vector<rank_timeline> timelines;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    auto const& of = digests[i].by_style.at(kernel_name_style::base).collectives;
    occurrences.push_back(&of);
    timelines.push_back({captures[i].host, digests[i].wall_over_monotonic, &of});
  }
  auto const clocks = offsets_of(timelines);
  std::uint64_t tolerance = 0;
  for (auto const& host : clocks.hosts) tolerance = std::max(tolerance, host.error_ns.value_or(0));
  std::vector<collective_meeting> meetings;
  collective_waits(occurrences, clocks, tolerance, &meetings);
  std::vector<advise::rank_facts> facts;
  if (meetings.empty()) return facts;
  auto const lateness = lateness_of(meetings, captures.size(), step_ns);
  for (std::size_t i = 0; i < captures.size(); ++i)
    facts.push_back({.rank = captures[i].rank.value_or(static_cast<std::uint32_t>(i)),
                     .host = captures[i].host,
                     .collectives = lateness[i].collectives,
                     .last_in = lateness[i].last_in,
                     .steps = lateness[i].steps,
                     .late_steps = lateness[i].late_steps,
                     .late_ns = lateness[i].late_ns});
  return facts;
}

}  // namespace gpuprof
