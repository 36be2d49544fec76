// SPDX-License-Identifier: Apache-2.0
// Reads one block: checks it, decompresses it and assembles its columns into rows, in small tiles.
#pragma once

#include "capture/block_index.hpp"
#include "capture/directory.hpp"
#include "capture/input_file.hpp"
#include "capture/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::capture {

/// A column of the loaded block: a cursor over its numbers (for a text column, the lengths) and its
/// joined texts.
struct readable_column {
  std::uint16_t place = 0;
  column_cursor cursor;
  std::string_view texts;
};

/// Reuses its buffers for all blocks, so results are valid until the next load().
class block_decoder {
 public:
  block_decoder();
  ~block_decoder();
  block_decoder(block_decoder&&) noexcept;
  block_decoder& operator=(block_decoder&&) noexcept;

  /// Returns false if the block is damaged. Checks all lengths, so that reading the columns
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

// Assembles rows from the columns of a loaded block, in small tiles.

/// Rows are assembled in tiles, because a whole block would displace the caller's data from the
/// caches.
inline constexpr std::size_t tile_rows = 1024;

/// Use for one block; reads its columns from front to back. Texts in the rows are valid as long as
/// the block stays loaded.
class row_assembler {
 public:
  /// Bit p of `wanted` selects the column at place p.
  row_assembler(table_layout const& layout, std::span<readable_column> columns,
                std::uint64_t wanted) noexcept
      : layout_(&layout), columns_(columns), wanted_(wanted) {}

  /// Fills in the next `count` rows, at most tile_rows. `rows` must be the same memory at each
  /// call, and hold tile_rows default rows at the first.
  void next(std::byte* rows, std::size_t count) noexcept;

 private:
  void fill(readable_column& from, column_layout const& column, std::byte* rows,
            std::size_t count) noexcept;

  table_layout const* layout_;
  std::span<readable_column> columns_;
  std::uint64_t wanted_;
  bool is_first_ = true;
  std::array<std::uint64_t, tile_rows> numbers_;
};

}  // namespace gpuprof::capture
