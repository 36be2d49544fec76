// SPDX-License-Identifier: Apache-2.0
// The first lines of a comparison: what is compared, and what became of the step.
#pragma once

#include "comparison/comparison_output.hpp"

#include <string>
#include <vector>

namespace gpuprof {

std::vector<std::string> headlines_of(compare::comparison const& of, compared_sides const& sides);

}  // namespace gpuprof
