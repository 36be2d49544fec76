// SPDX-License-Identifier: Apache-2.0
// Finds the capture that a user names.
#pragma once

#include <filesystem>
#include <string>

namespace gpuprof {

/// "run" stands for run.gpuprof, as after `gpuprof profile -o run`, where there is no file "run".
inline std::string named_capture(std::string const& name) {
  std::error_code none;
  if (std::filesystem::is_regular_file(name, none)) return name;
  auto with_extension = name + ".gpuprof";
  return std::filesystem::is_regular_file(with_extension, none) ? with_extension : name;
}

}  // namespace gpuprof
