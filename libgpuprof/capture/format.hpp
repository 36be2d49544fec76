// SPDX-License-Identifier: Apache-2.0
// The fixed parts of a capture file: file header, block header and limits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gpuprof::capture {

inline constexpr std::uint16_t format_major = 1;  // readers refuse a higher number
inline constexpr std::uint16_t format_minor = 6;  // a higher number only adds columns and tables

inline constexpr std::size_t max_block_rows = 65536;          // more means damage
inline constexpr std::size_t max_block_raw_bytes = 16 << 20;  // more means damage
// per byte of the block; more means damage
inline constexpr std::size_t max_rows_per_byte = 600;
// longer texts are cut off when written
inline constexpr std::size_t max_text_bytes = 1 << 20;

inline constexpr std::size_t file_header_bytes = 16;
inline constexpr std::size_t block_header_bytes = 40;

// As in PNG, 0x89 and the line ends reveal a file that was copied in text mode.
inline constexpr std::array<unsigned char, 8> file_magic{0x89, 'G',  'P',  'U',
                                                         'P',  '\r', '\n', 0x1A};
inline constexpr std::array<unsigned char, 8> block_magic{0xB7, 'g', 'p', 'b', 'l', 'o', 'c', 'k'};

/// The header before the compressed rows of a block.
struct block_header {
  std::uint16_t table = 0;
  std::uint32_t rows = 0;
  std::uint32_t stored_bytes = 0;  // length of the zstd frame that follows
  std::uint32_t raw_bytes = 0;     // length of its content
  std::uint64_t sequence = 0;      // 0, 1, 2 ... in file order; a gap means a lost block
};

/// FNV-1a, 64 bits.
constexpr std::uint64_t checksum(std::span<unsigned char const> bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (auto const byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

/// Loads and stores little-endian numbers at any address.
template <class T>
constexpr void store(unsigned char* to, T value) noexcept {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}
template <class T>
constexpr T load(unsigned char const* from) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return static_cast<T>(value);
}

using file_header_image = std::array<unsigned char, file_header_bytes>;
using block_header_image = std::array<unsigned char, block_header_bytes>;

inline file_header_image to_bytes_of_file_header(std::uint16_t major,
                                                 std::uint16_t minor) noexcept {
  file_header_image image{};
  std::memcpy(image.data(), file_magic.data(), file_magic.size());
  store<std::uint16_t>(&image[8], major);
  store<std::uint16_t>(&image[10], minor);
  store<std::uint32_t>(&image[12], static_cast<std::uint32_t>(checksum({image.data(), 12})));
  return image;
}

inline block_header_image to_bytes(block_header const& header) noexcept {
  block_header_image image{};
  std::memcpy(image.data(), block_magic.data(), block_magic.size());
  store<std::uint16_t>(&image[8], header.table);
  store<std::uint32_t>(&image[12], header.rows);
  store<std::uint32_t>(&image[16], header.stored_bytes);
  store<std::uint32_t>(&image[20], header.raw_bytes);
  store<std::uint64_t>(&image[24], header.sequence);
  store<std::uint64_t>(&image[32], checksum({image.data(), 32}));
  return image;
}

/// Returns false if the bytes are not a block header written by to_bytes(), or if it exceeds the
/// limits.
inline bool parse(std::span<unsigned char const, block_header_bytes> image,
                  block_header& header) noexcept {
  if (std::memcmp(image.data(), block_magic.data(), block_magic.size()) != 0) return false;
  if (load<std::uint64_t>(&image[32]) != checksum(image.first<32>())) return false;
  header = {.table = load<std::uint16_t>(&image[8]),
            .rows = load<std::uint32_t>(&image[12]),
            .stored_bytes = load<std::uint32_t>(&image[16]),
            .raw_bytes = load<std::uint32_t>(&image[20]),
            .sequence = load<std::uint64_t>(&image[24])};
  // Predictable rows take no bytes, but the block does: the writer needs up to 55 bytes for 32768
  // such rows.
  auto const bytes = block_header_bytes + header.stored_bytes;
  return header.rows <= max_block_rows && header.rows <= max_rows_per_byte * bytes &&
         header.raw_bytes <= max_block_raw_bytes && header.stored_bytes > 0;
}

}  // namespace gpuprof::capture
