// Writes JSON values into a string of bounded length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof {

/// Quoted and escaped. Bytes that are no UTF-8 become U+FFFD.
void append_json_text(std::string& out, std::string_view text);
void append_json(std::string& out, double number);  // null for NaN and infinity
void append_json(std::string& out, std::int64_t number);
void append_json(std::string& out, std::uint64_t number);
void append_hex(std::string& out, std::uint64_t number);  // "0x2a", quoted

}  // namespace gpuprof
