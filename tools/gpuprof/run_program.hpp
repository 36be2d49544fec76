// SPDX-License-Identifier: Apache-2.0
// Runs a program as a child, with its environment, and waits for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::command {

// Creates the environment for the profiled program.

/// Settings chosen by `gpuprof profile`, by name of the variable.
using variables = std::map<std::string, std::string>;

struct launch_environment {
  std::vector<std::string> entries;  // "NAME=value"
  std::vector<std::string> remarks;  // lines for the user
};

/// Returns `inherited` with `preload` in LD_PRELOAD, unless it is empty, and `library` in the
/// injection variables. The injection of another tool is kept, with a remark.
launch_environment make_launch_environment(char const* const* inherited, variables const& chosen,
                                           std::string const& library, std::string const& preload);

struct run_outcome {
  int exit_code = 0;    // of the program, or 128 + signal; 126 or 127 if exec failed
  std::string message;  // why it could not be started; else empty
  int signal = 0;       // signal that ended it; 0: ended by itself
};

/// The program sees `arguments[0]` as its name. Call it from one thread; no other child may be
/// waited for meanwhile.
run_outcome run_program(std::string const& path, std::vector<std::string> const& arguments,
                        std::vector<std::string> const& environment);

}  // namespace gpuprof::host::command
