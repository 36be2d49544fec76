// SPDX-License-Identifier: Apache-2.0
// The environment in which the profiled program starts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::command {

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

}  // namespace gpuprof::host::command
