// SPDX-License-Identifier: Apache-2.0
// Gets the peaks of GPUs, with a line on the terminal; also before a program is profiled, so that
// its capture holds them.
#pragma once

#include "base/log.hpp"
#include "guest/peaks/obtain.hpp"

#include <string>

namespace gpuprof::host::command {

// Gets the peaks of a GPU, with a line on the terminal that says which test runs.

/// `label` goes before the name of the test: "GPU 0: ", or nothing when there is but one.
result<guest::peaks::obtained> obtain_visibly(int device, std::string const& label,
                                              guest::peaks::obtain_options asked);

enum class telling {
  all,
  news  // not that all is stored already, nor that there is no GPU
};

/// Works in a child process: nothing of it is left on the GPUs or in this process when it returns.
/// Says on stderr what came of it, one line for each GPU, as far as `level` lets it.
void store_peaks_beforehand(log_level level, telling what);

}  // namespace gpuprof::host::command
