// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

namespace gpuprof {

std::size_t utf8_length(std::string_view text) noexcept {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const first = byte(0);
  std::size_t const length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length == 3 && first == 0xe0 && byte(1) < 0xa0) return 0;  // overlong encoding
  if (length == 3 && first == 0xed && byte(1) > 0x9f) return 0;  // surrogate
  if (length == 4 && first == 0xf0 && byte(1) < 0x90) return 0;
  if (length == 4 && first == 0xf4 && byte(1) > 0x8f) return 0;  // beyond U+10FFFF
  return length;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto const length = utf8_length(text);
    if (length == 0)
      out += "\xef\xbf\xbd";
    else
      out.append(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

namespace {

void append_escaped(std::string& out, char c) {
  constexpr char digits[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[c & 15];
  }
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    auto const length = utf8_length(text);
    auto const c = text.front();
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\')) {
      append_escaped(out, c);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

}  // namespace gpuprof
