// SPDX-License-Identifier: Apache-2.0
// Which kernel of one side is which of the other, also after it was renamed or split.
#pragma once

#include "host/compare/difference.hpp"
#include "host/compare/run_digest.hpp"

#include <map>
#include <span>
#include <vector>

namespace gpuprof::host::compare {

/// A kernel in all runs of a side.
struct side_kernel {
  double launches = 0;             // a step, or a run: the mean over runs
  std::string range, predecessor;  // as in kernel_line
};
using side_kernels = std::map<kernel_key, side_kernel>;

side_kernels kernels_of(std::span<run_digest const> side, bool by_step);

struct kernel_match {
  match_kind how{};
  std::vector<kernel_key> base, fresh;  // either is empty when it went or came
  double parts = 1;  // of a split: launches of `fresh`, all together, for one of `base`
};

/// Name and geometry first, then name. What is left was renamed when one went and one came with as
/// many launches, behind the same kernel or as the only ones of a range; it was split when several
/// came there, each with the same multiple of its launches.
std::vector<kernel_match> match_kernels(side_kernels const& base, side_kernels const& fresh);

}  // namespace gpuprof::host::compare
