// SPDX-License-Identifier: Apache-2.0
// Converts the texts of NVTX calls to name_ids.
#include "guest/nvtx/text.hpp"

namespace gpuprof::guest {

std::size_t put_utf8(char32_t c, char* at) noexcept {
  if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) c = 0xfffd;
  if (c < 0x80) {
    at[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    at[0] = static_cast<char>(0xc0 | c >> 6);
    at[1] = static_cast<char>(0x80 | (c & 0x3f));
    return 2;
  }
  if (c < 0x10000) {
    at[0] = static_cast<char>(0xe0 | c >> 12);
    at[1] = static_cast<char>(0x80 | (c >> 6 & 0x3f));
    at[2] = static_cast<char>(0x80 | (c & 0x3f));
    return 3;
  }
  at[0] = static_cast<char>(0xf0 | c >> 18);
  at[1] = static_cast<char>(0x80 | (c >> 12 & 0x3f));
  at[2] = static_cast<char>(0x80 | (c >> 6 & 0x3f));
  at[3] = static_cast<char>(0x80 | (c & 0x3f));
  return 4;
}

std::string_view to_utf8(wchar_t const* wide, std::span<char> into) noexcept {
  std::size_t used = 0;
  if (wide == nullptr) return {};
  for (; *wide != 0 && used + 4 <= into.size(); ++wide) {
    used += put_utf8(static_cast<char32_t>(*wide), into.data() + used);
  }
  return {into.data(), used};
}

name_id intern_text(name_cache& cache, char const* text) noexcept {
  if (text == nullptr) return {};
  return cache.intern(text, max_nvtx_text);
}

name_id intern_text(name_cache& cache, wchar_t const* text) noexcept {
  char buffer[max_nvtx_text];
  return cache.intern(to_utf8(text, buffer));
}

}  // namespace gpuprof::guest
