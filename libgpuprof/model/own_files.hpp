// SPDX-License-Identifier: Apache-2.0
// Tells source files of a program from those of the libraries that it uses.
#pragma once

#include <string_view>

namespace gpuprof {

/// Not of an installed package or Python's standard library, and not written by a compiler of
/// PyTorch. `file`: as Python names it.
inline bool is_own_by_default(std::string_view file) noexcept {
  for (std::string_view const part : {"/site-packages/", "/dist-packages/", "/lib/python3",
                                      "/lib64/python3", "/torchinductor_", "/.triton/"})
    if (file.find(part) != file.npos) return false;
  return !file.empty() && !file.starts_with("<frozen ");
}

}  // namespace gpuprof
