// SPDX-License-Identifier: Apache-2.0
#include "analyze/late_ranks.hpp"

#include "host/analysis/ranks/rank_lateness.hpp"
#include "ranks/job_collectives.hpp"

namespace gpuprof {

std::vector<advise::rank_facts> late_ranks(std::span<ranked_capture const> captures,
                                           std::span<rank_digest const> digests, double step_ns) {
  auto const all = collectives_of(captures, digests, kernel_name_style::base);
  std::vector<collective_meeting> meetings;
  collective_waits(all.of_rank, all.clocks, all.tolerance_ns, &meetings);
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
