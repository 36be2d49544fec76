// SPDX-License-Identifier: Apache-2.0
// Finds for kernels of CUDA graphs the same launches outside of graphs.
#pragma once

#include "host/analysis/workload_times.hpp"

#include <map>
#include <span>

namespace gpuprof::host {

/// Shapes for which this is equal differ in their ids and arguments only.
kernel_shape without_arguments(kernel_shape shape);

/// Launches of one kernel in one geometry are told apart by their arguments, but of kernels in
/// graphs these are not known. Where such a kernel had the same arguments in all launches outside,
/// and takes as long inside, it is taken to have them inside, too: programs warm up with what they
/// capture. By workload inside; `times` is complete.
std::map<workload_id, workload_id> counted_outside(workload_times const& times,
                                                   std::span<kernel_shape const> shapes);

}  // namespace gpuprof::host
