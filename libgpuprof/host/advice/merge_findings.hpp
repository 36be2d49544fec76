// SPDX-License-Identifier: Apache-2.0
// One finding where a rule found the same on many launch geometries or GPUs.
#pragma once

#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::advise {

/// Findings of one rule on one kernel name, or of one family, become one: gains and instances are
/// added up, words and evidence are those of the part with the highest gain. So do findings without
/// a kernel that differ in nothing but their GPU. Keeps the order of the first ones.
std::vector<finding> merge_findings(std::vector<finding> findings);

}  // namespace gpuprof::advise
