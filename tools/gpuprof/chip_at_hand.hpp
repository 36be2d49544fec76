// SPDX-License-Identifier: Apache-2.0
// Says which chip the GPU of this machine is.
#pragma once

#include "base/result.hpp"

#include <string>

namespace gpuprof::host::command {

/// Of GPU 0, as CUPTI names it ("GH100"). Asked in a child process; makes no context.
result<std::string> chip_at_hand();

}  // namespace gpuprof::host::command
