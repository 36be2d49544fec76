// SPDX-License-Identifier: Apache-2.0
// Finds the name that a misspelled word most likely means.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpuprof {

/// Returns the one of `names` with the fewest edits to `word`; empty if none is near.
std::string nearest_name(std::string_view word, std::span<std::string const> names);

}  // namespace gpuprof
