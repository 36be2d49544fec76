// SPDX-License-Identifier: Apache-2.0
// Finds the libgpuprof.so that belongs to this command.
#pragma once

#include "base/result.hpp"

#include <string>

namespace gpuprof::host::command {

/// Returns GPUPROF_LIBRARY, else the library installed beside the command, else the one of the
/// build tree.
result<std::string> find_library_file();

/// Returns the file to preload for this library: libgpuprof_preload.so beside it, which loads the
/// library and shares CUPTI with clients of the program. If there is none, it is the library
/// itself.
std::string preload_file(std::string const& library);

}  // namespace gpuprof::host::command
