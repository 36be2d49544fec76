// SPDX-License-Identifier: Apache-2.0
// What a reader is to know before believing a comparison.
#pragma once

#include "host/compare/comparison.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::compare {

std::vector<std::string> remarks_on(comparison const& of, std::span<run_digest const> base,
                                    std::span<run_digest const> fresh);

}  // namespace gpuprof::host::compare
