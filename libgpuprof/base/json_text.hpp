// SPDX-License-Identifier: Apache-2.0
// Writes a text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof {

/// Quoted and escaped. Bytes that are no UTF-8 become U+FFFD.
void append_json_text(std::string& out, std::string_view text);

}  // namespace gpuprof
