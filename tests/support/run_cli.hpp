// SPDX-License-Identifier: Apache-2.0
// Runs the real command, given as GPUPROF_CLI by CMake, and keeps what it says.
#pragma once

#include "support/golden.hpp"
#include "support/scratch_folder.hpp"

#include <cstdlib>
#include <string>
#include <sys/wait.h>

namespace gpuprof::test {

struct outcome {
  int code = -1;
  std::string out, err;
};

/// Runs `gpuprof ARGUMENTS` through the shell, in `folder`.
inline outcome run_cli(scratch_folder const& folder, std::string const& arguments) {
  auto const out = folder / "stdout", err = folder / "stderr";
  auto const status = std::system(("cd '" + (folder / "") + "' && '" GPUPROF_CLI "' " + arguments +
                                   " >'" + out + "' 2>'" + err + "'")
                                      .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

}  // namespace gpuprof::test
