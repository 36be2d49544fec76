// SPDX-License-Identifier: Apache-2.0
// From what rules found on each launch geometry of kernels to what is said of each kernel.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::advise {

/// Shares what each kernel can save among its findings, takes off what launches hide, merges
/// geometries. Findings without a kernel stay as they are.
std::vector<finding> settle_kernel_findings(std::vector<finding> findings, run_facts const& facts);

}  // namespace gpuprof::advise
