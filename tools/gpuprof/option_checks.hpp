// SPDX-License-Identifier: Apache-2.0
// Checks of option values that CLI11 has no word for.
#pragma once

#include <string>

namespace gpuprof {

/// A variable of the shell that is not set gives no word; so nothing would be asked for.
inline std::string not_empty(std::string const& value) {
  return value.empty() ? "is empty" : "";
}

}  // namespace gpuprof
