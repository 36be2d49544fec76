// SPDX-License-Identifier: Apache-2.0
// What a page says of two sides: what `gpuprof compare` says.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace gpuprof {

/// {"headlines": [...], "compare": as `gpuprof compare -f json` has it}, or {"missing": "why"} for
/// captures of different programs, unless these are wanted.
result<std::string> comparison_document(std::vector<std::string> const& base,
                                        std::vector<std::string> const& fresh,
                                        std::string const& step_name, bool different_programs);

}  // namespace gpuprof
