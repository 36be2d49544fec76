// SPDX-License-Identifier: Apache-2.0
// Numbers and texts in the form used in a page: compressed, and encoded in characters that HTML
// does not interpret.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::host::page {

/// Compresses in zlib's format, which DecompressionStream("deflate") reads, and encodes as base64.
std::string packed(std::string_view bytes);

/// Writes little-endian numbers in byte planes (all lowest bytes first), as many planes as the
/// greatest number needs; the first byte is the number of planes. Planes of similar bytes compress
/// well.
std::string planes_of(std::span<std::uint64_t const> numbers);

}  // namespace gpuprof::host::page
