// SPDX-License-Identifier: Apache-2.0
// Finds the libgpuprof.so that belongs to this command.
#pragma once

#include "base/result.hpp"

#include <string>

namespace gpuprof::host::command {

/// GPUPROF_LIBRARY, else the library installed beside the command, else the one of the build tree.
result<std::string> find_library_file();

/// What is to be preloaded for this library: libgpuprof_preload.so beside it, which brings it and
/// shares CUPTI with clients of the program; the library itself if there is none.
std::string preload_file(std::string const& library);

}  // namespace gpuprof::host::command
