// SPDX-License-Identifier: Apache-2.0
// UTF-8 text: checks it, makes it valid, and writes it as a JSON string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof {

/// Returns the length of the well-formed UTF-8 character at the front of a non-empty text; 0 if
/// there is none.
std::size_t utf8_length(std::string_view text) noexcept;

/// Returns the text with U+FFFD for each byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

/// Writes the text with quotes and escapes. Bytes that are not UTF-8 become U+FFFD.
void append_json_text(std::string& out, std::string_view text);

}  // namespace gpuprof
