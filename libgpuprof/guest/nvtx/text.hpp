// SPDX-License-Identifier: Apache-2.0
// Converts the texts of NVTX calls to name_ids.
#pragma once

#include "guest/nvtx/name_registry.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace gpuprof::guest {

/// Longer texts are cut.
inline constexpr std::size_t max_nvtx_text = 4096;

/// Converts as much of a wide text as fits to UTF-8. Invalid characters become U+FFFD.
std::string_view to_utf8(wchar_t const* wide, std::span<char> into) noexcept;

/// Null becomes the empty name.
name_id intern_text(name_cache& cache, char const* text) noexcept;
name_id intern_text(name_cache& cache, wchar_t const* text) noexcept;

/// Appends one character, or 0xfffd if it is invalid.
std::size_t put_utf8(char32_t character, char* at) noexcept;  // at most 4 bytes

}  // namespace gpuprof::guest
