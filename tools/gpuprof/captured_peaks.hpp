// SPDX-License-Identifier: Apache-2.0
// The peaks that a capture holds, as `gpuprof peaks` prints them.
#pragma once

#include "base/result.hpp"
#include "model/peaks.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

/// True if the file begins as a capture does.
bool is_capture(std::string const& path);

/// One element for each GPU with peaks. A capture holds less than a file of peaks: no power or
/// temperature in bursts, no tests that failed. Fails if it has no peaks.
result<std::vector<gpu_peaks>> captured_peaks(std::string const& path);

}  // namespace gpuprof::host::command
