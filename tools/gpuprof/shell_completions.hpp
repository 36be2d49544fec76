// SPDX-License-Identifier: Apache-2.0
// Writes files by which shells complete the command's words, from its options.
#pragma once

#include "documented_options.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

std::string bash_completion(std::vector<documented_command> const& commands);
std::string zsh_completion(std::vector<documented_command> const& commands);
std::string fish_completion(std::vector<documented_command> const& commands);

}  // namespace gpuprof::host::command
