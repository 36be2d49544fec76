// SPDX-License-Identifier: Apache-2.0
// Reads one block back: checks it, decompresses it, hands out its columns.
#pragma once

#include "capture/block_index.hpp"
#include "capture/directory.hpp"
#include "capture/input_file.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::capture {

/// A column of the loaded block: a cursor over its numbers (of a text column, the lengths) and its
/// joined texts.
struct readable_column {
  std::uint16_t place = 0;
  column_cursor cursor;
  std::string_view texts;
};

/// Keeps its buffers between blocks. Nothing it hands out outlives the next load().
class block_decoder {
 public:
  block_decoder();
  ~block_decoder();
  block_decoder(block_decoder&&) noexcept;
  block_decoder& operator=(block_decoder&&) noexcept;

  /// False when the block is damaged. All lengths are checked here, so that reading the columns
  /// afterwards cannot fail.
  bool load(input_file const& file, block_place const& place);

  std::span<readable_column> columns() noexcept { return columns_; }

 private:
  struct decompressor;
  bool decompress(block_header const& header);

  std::unique_ptr<decompressor> decompressor_;
  std::vector<unsigned char> stored_;
  std::vector<unsigned char> content_;
  std::vector<stored_column> directory_;
  std::vector<readable_column> columns_;
};

}  // namespace gpuprof::capture
