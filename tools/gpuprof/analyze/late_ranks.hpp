// SPDX-License-Identifier: Apache-2.0
// How late each rank of a job comes to its collectives.
#pragma once

#include "host/advice/facts.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"

#include <span>
#include <vector>

namespace gpuprof {

/// A digest of each capture, in the same order, with names of style `base`. `step_ns`: of a step;
/// 0: not known. None where no collective was matched.
std::vector<advise::rank_facts> late_ranks(std::span<ranked_capture const> captures,
                                           std::span<rank_digest const> digests, double step_ns);

}  // namespace gpuprof
