// SPDX-License-Identifier: Apache-2.0
// Writes JSON numbers into a string.
#pragma once

#include "base/json_text.hpp"

#include <cstdint>
#include <string>

namespace gpuprof::guest {

void append_json(std::string& out, double number);  // null for NaN and infinity
void append_json(std::string& out, std::int64_t number);
void append_json(std::string& out, std::uint64_t number);
void append_hex(std::string& out, std::uint64_t number);  // "0x2a", quoted

}  // namespace gpuprof::guest
