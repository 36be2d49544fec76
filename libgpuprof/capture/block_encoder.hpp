// SPDX-License-Identifier: Apache-2.0
// Turns the columns of one table into one block of the file: a header and a zstd frame.
#pragma once

#include "capture/format.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::capture {

/// One column of a block about to be written.
struct column_values {
  std::uint16_t place = 0;                // in the table's list of columns
  std::span<std::uint64_t const> values;  // one a row; of a text column, the lengths
  std::string_view texts;                 // of a text column: all texts joined
};

/// Keeps its compressor and buffers between blocks. One thread.
class block_encoder {
 public:
  block_encoder();
  ~block_encoder();
  block_encoder(block_encoder const&) = delete;
  block_encoder& operator=(block_encoder const&) = delete;

  /// Appends the block to `out`. False, with `out` as before, when memory is missing.
  bool append(std::uint16_t table, std::uint64_t sequence, std::span<column_values const> columns,
              std::vector<unsigned char>& out) noexcept;

 private:
  struct compressor;
  std::unique_ptr<compressor> compressor_;
};

}  // namespace gpuprof::capture
