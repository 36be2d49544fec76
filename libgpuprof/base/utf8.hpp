// SPDX-License-Identifier: Apache-2.0
// Text as UTF-8: which bytes of it are, made valid, written as a JSON string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof {

/// The length of the well-formed UTF-8 character at the front of a text that is not empty; 0: there
/// is none.
std::size_t utf8_length(std::string_view text) noexcept;

/// The text, with U+FFFD for each byte that is no UTF-8.
std::string valid_utf8(std::string_view text);

/// Quoted and escaped. Bytes that are no UTF-8 become U+FFFD.
void append_json_text(std::string& out, std::string_view text);

}  // namespace gpuprof
