// SPDX-License-Identifier: Apache-2.0
// The name a misspelled word most likely meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpuprof {

/// Of `names`, the one with the fewest edits to `word`; empty when none is near.
std::string nearest_name(std::string_view word, std::span<std::string const> names);

}  // namespace gpuprof
