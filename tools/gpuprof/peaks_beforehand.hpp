// SPDX-License-Identifier: Apache-2.0
// Obtains the peaks of GPUs, with a line on the terminal. Also does so before a program is
// profiled, so that its capture holds them.
#pragma once

#include "base/log.hpp"
#include "guest/peaks/obtain.hpp"

#include <string>

namespace gpuprof::host::command {

// Obtains the peaks of a GPU and shows on the terminal which test is running.

/// `label` precedes the name of the test: "GPU 0: ", or empty if there is only one GPU.
result<guest::peaks::obtained> obtain_visibly(int device, std::string const& label,
                                              guest::peaks::obtain_options asked);

enum class telling {
  all,
  news  // not if everything is already stored or there is no GPU
};

/// Works in a child process: when it returns, nothing is left on the GPUs or in this process.
/// Prints the result to stderr, one line per GPU, if `level` permits.
void store_peaks_beforehand(log_level level, telling what);

}  // namespace gpuprof::host::command
