// SPDX-License-Identifier: Apache-2.0
// Which kernels a page has details of: those with most time, as `gpuprof stats` lists them.
#pragma once

#include "host/page/kernel_details.hpp"
#include "stats_output.hpp"

#include <vector>

namespace gpuprof {

struct watched_kernels {
  std::vector<page::watched_line> kernels, signatures;  // the longest time first
  std::size_t more_kernels = 0, more_signatures = 0;    // that a page has no room for
};

/// Out of cuda_gpu_kern_sum and cuda_gpu_kern_gb_sum, where they are among the reports; of the
/// latter half as many again.
watched_kernels kernels_to_watch(std::vector<finished_report> const& reports,
                                 std::size_t max_kernels);

}  // namespace gpuprof
