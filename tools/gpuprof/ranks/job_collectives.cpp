// SPDX-License-Identifier: Apache-2.0
#include "ranks/job_collectives.hpp"

#include <algorithm>

namespace gpuprof {

bool job_collectives::empty() const noexcept {
  return std::all_of(of_rank.begin(), of_rank.end(), [](auto const* of) { return of->empty(); });
}

job_collectives collectives_of(std::span<ranked_capture const> captures,
                               std::span<rank_digest const> digests, kernel_name_style style) {
  job_collectives all;
  std::vector<rank_timeline> timelines;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    auto const& of = digests[i].by_style.at(style).collectives;
    all.of_rank.push_back(&of);
    timelines.push_back({captures[i].host, digests[i].wall_over_monotonic, &of});
  }
  all.clocks = offsets_of(timelines);
  for (auto const& host : all.clocks.hosts)
    all.tolerance_ns = std::max(all.tolerance_ns, host.error_ns.value_or(0));
  return all;
}

}  // namespace gpuprof
