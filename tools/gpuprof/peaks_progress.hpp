// SPDX-License-Identifier: Apache-2.0
// Gets the peaks of a GPU, with a line on the terminal that says which test runs.
#pragma once

#include "guest/peaks/obtain.hpp"

#include <string>

namespace gpuprof::host::command {

/// `label` goes before the name of the test: "GPU 0: ", or nothing when there is but one.
result<guest::peaks::obtained> obtain_visibly(int device, std::string const& label,
                                              guest::peaks::obtain_options asked);

}  // namespace gpuprof::host::command
