// SPDX-License-Identifier: Apache-2.0
// The user's settings as this process finds them when it comes up.
#pragma once

#include "guest/options/settings.hpp"

#include <string>

namespace gpuprof {

/// GPUPROF_* of the environment; what is wrong with them is logged, a line each. Sets the log
/// level.
settings settings_of_this_process();

/// A relative name of an output means the folder the program is in now, not the one it may change
/// to.
std::string in_current_folder(std::string pattern);

}  // namespace gpuprof
