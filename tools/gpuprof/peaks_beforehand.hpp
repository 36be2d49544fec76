// SPDX-License-Identifier: Apache-2.0
// Has the peaks of all GPUs stored before a program is profiled, so that its capture holds them.
#pragma once

#include "base/log.hpp"

namespace gpuprof::host::command {

enum class telling {
  all,
  news  // not that all is stored already, nor that there is no GPU
};

/// Works in a child process: nothing of it is left on the GPUs or in this process when it returns.
/// Says on stderr what came of it, one line for each GPU, as far as `level` lets it.
void store_peaks_beforehand(log_level level, telling what);

}  // namespace gpuprof::host::command
