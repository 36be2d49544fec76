// SPDX-License-Identifier: Apache-2.0
// Numbers and texts as a page holds them: compressed, in letters that HTML leaves alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::host::page {

/// zlib's format, which DecompressionStream("deflate") reads, as base64.
std::string packed(std::string_view bytes);

/// Little-endian numbers, plane by plane (all lowest bytes first), as many planes as the greatest
/// needs: a first byte says how many. Planes of like bytes compress well.
std::string planes_of(std::span<std::uint64_t const> numbers);

}  // namespace gpuprof::host::page
