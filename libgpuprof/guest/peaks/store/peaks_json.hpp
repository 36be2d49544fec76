// SPDX-License-Identifier: Apache-2.0
// Converts measured peaks to JSON and back, for the store and for `gpuprof peaks --json`.
#pragma once

#include "base/result.hpp"
#include "model/peaks.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest::peaks {

/// Returns {"format": 1, "gpus": [...]}, indented, with a newline. Fields that are zero, empty or
/// not measured are left out. Numbers read back as the same numbers.
std::string to_json(std::span<gpu_peaks const> gpus);

/// Ignores unknown fields. The error says where the text is wrong, in words that follow the file's
/// name: "is no valid JSON from byte 12 on".
result<std::vector<gpu_peaks>> from_json(std::string_view text);

}  // namespace gpuprof::guest::peaks
