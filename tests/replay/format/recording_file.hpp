// SPDX-License-Identifier: Apache-2.0
// Stores a recording in one small file and reads it back.
#pragma once

#include "base/result.hpp"
#include "replay/format/recording.hpp"

#include <string>
#include <vector>

namespace gpuprof::replay {

std::vector<std::byte> encode(recording const&);
result<recording> decode(std::span<std::byte const> file);

result<void> write_recording(recording const&, std::string const& path);
result<recording> read_recording(std::string const& path);

}  // namespace gpuprof::replay
