// SPDX-License-Identifier: Apache-2.0
// Runs a program as a child, with its environment, and waits for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::command {

// The environment in which the profiled program starts.

/// What `gpuprof profile` decided, by name of the variable.
using variables = std::map<std::string, std::string>;

struct launch_environment {
  std::vector<std::string> entries;  // "NAME=value"
  std::vector<std::string> remarks;  // one line each, for the user
};

/// `inherited` with LD_PRELOAD pointing at `preload`, unless that is empty, and the injection
/// variables at `library`. Another tool's injection is left alone and remarked on.
launch_environment make_launch_environment(char const* const* inherited, variables const& chosen,
                                           std::string const& library, std::string const& preload);

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
