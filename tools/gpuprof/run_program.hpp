// SPDX-License-Identifier: Apache-2.0
// Runs a program with a given environment until it ends, passing on the signals meant for it.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::host::command {

struct run_outcome {
  int exit_code = 0;    // the program's, or 128 + signal; 126, 127 when exec failed
  std::string message;  // why it could not be started; empty when it was
  int signal = 0;       // that ended it; 0: it ended by itself
};

/// `arguments[0]` is what the program sees as its name. One thread; no other child may be waited
/// for meanwhile.
run_outcome run_program(std::string const& path, std::vector<std::string> const& arguments,
                        std::vector<std::string> const& environment);

}  // namespace gpuprof::host::command
