// SPDX-License-Identifier: Apache-2.0
// The list of columns at the start of a block's content.
#pragma once

#include "capture/column_code.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof::capture {

/// One entry: 32 bytes in the file. After the directory comes, for each column in the same order,
/// its byte planes and then its texts.
struct stored_column {
  std::uint16_t place = 0;
  column_code code;
  std::uint32_t text_bytes = 0;

  std::size_t payload_bytes(std::size_t rows) const noexcept {
    return std::size_t{code.width} * rows + text_bytes;
  }
};

/// Replaces `out`.
void write_directory(std::span<stored_column const> columns, std::vector<unsigned char>& out);

/// Reads the entries at the start of `content`; their payloads must fill the rest exactly. Returns
/// false if they do not or if an entry is invalid. Replaces `out`.
bool read_directory(std::span<unsigned char const> content, std::size_t rows,
                    std::vector<stored_column>& out);

/// Size in bytes of a directory with this many columns.
constexpr std::size_t directory_bytes(std::size_t columns) noexcept {
  return 2 + 32 * columns;
}

}  // namespace gpuprof::capture
