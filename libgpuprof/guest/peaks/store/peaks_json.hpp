// SPDX-License-Identifier: Apache-2.0
// Measured peaks as JSON and back: what the store keeps and `gpuprof peaks --json` prints.
#pragma once

#include "base/result.hpp"
#include "model/peaks.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest::peaks {

/// {"format": 1, "gpus": [...]}, indented, with a line end. What is zero, empty or was not measured
/// is left out; numbers read back as the same numbers.
std::string to_json(std::span<gpu_peaks const> gpus);

/// Fields it does not know are passed over. The error says where the text is wrong, in words that
/// follow its name: "is no valid JSON from byte 12 on".
result<std::vector<gpu_peaks>> from_json(std::string_view text);

}  // namespace gpuprof::guest::peaks
