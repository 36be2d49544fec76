// SPDX-License-Identifier: Apache-2.0
// Matches the kernels of both sides, including renamed and split ones.
#pragma once

#include "host/compare/difference.hpp"
#include "host/compare/run_digest.hpp"

#include <map>
#include <span>
#include <vector>

namespace gpuprof::host::compare {

/// A kernel over all runs of a side.
struct side_kernel {
  double launches = 0;             // per step or run, averaged over runs
  std::string range, predecessor;  // as in kernel_line
};
using side_kernels = std::map<kernel_key, side_kernel>;

side_kernels kernels_of(std::span<run_digest const> side, bool by_step);

struct kernel_match {
  match_kind how{};
  std::vector<kernel_key> base, fresh;  // one is empty for a kernel on one side only
  double parts = 1;                     // for a split: launches of all `fresh` per launch of `base`
};

/// Matches by name and geometry, then by name. Of the rest, a kernel was renamed if it was replaced
/// by one with the same number of launches, after the same kernel or as the only one of a range. It
/// was split if it was replaced by several, each with the same multiple of its launches.
std::vector<kernel_match> match_kernels(side_kernels const& base, side_kernels const& fresh);

}  // namespace gpuprof::host::compare
