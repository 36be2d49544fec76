// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/ranks/step_waits.hpp"

#include <algorithm>

namespace gpuprof {

std::vector<waits_of_rank> waits_by_step(std::span<collective_occurrences const* const> ranks,
                                         clock_offsets const& clocks, std::uint64_t tolerance_ns) {
  std::vector<waits_of_rank> waits(ranks.size());
  collective_waits(ranks, clocks, tolerance_ns, nullptr,
                   [&](std::size_t rank, occurrence const& kernel, std::uint64_t wait_ns) {
                     auto& of = waits[rank];
                     if (kernel.step == no_step) {
                       of.outside_ns += wait_ns;
                       return;
                     }
                     auto const steps = std::size_t{kernel.step} + 1;
                     of.by_step.resize(std::max(of.by_step.size(), steps));
                     of.by_step[kernel.step] += wait_ns;
                   });
  return waits;
}

}  // namespace gpuprof
