// SPDX-License-Identifier: Apache-2.0
// Collects the rows of one table as columns until they fill a block of the file, which is a header
// and a zstd frame.
#pragma once

#include "capture/format.hpp"
#include "capture/layout.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::capture {

// Encodes the columns of one table as one block of the file: a header and a zstd frame.

/// One column of a block to be written.
struct column_values {
  std::uint16_t place = 0;                // in the table's list of columns
  std::span<std::uint64_t const> values;  // one per row; for a text column, the lengths
  std::string_view texts;                 // only for a text column: all texts joined
};

/// Reuses its compressor and buffers for all blocks. Must be used by one thread.
class block_encoder {
 public:
  block_encoder();
  ~block_encoder();
  block_encoder(block_encoder const&) = delete;
  block_encoder& operator=(block_encoder const&) = delete;

  /// Appends the block to `out`. Returns false and leaves `out` unchanged if there is no memory.
  bool append(std::uint16_t table, std::uint64_t sequence, std::span<column_values const> columns,
              std::vector<unsigned char>& out) noexcept;

 private:
  struct compressor;
  std::unique_ptr<compressor> compressor_;
};

inline constexpr std::size_t block_rows = 32768;  // a full block
// a block with this many bytes of texts is full too
inline constexpr std::size_t block_text_bytes = 4u << 20;
inline constexpr std::size_t max_columns = 21;  // maximum over all tables

/// Rows are collected in a small tile that stays in the first-level cache and converted to columns
/// one tile at a time. Reading megabytes of rows once per column would take longer than the
/// encoding.
class table_buffer {
 public:
  explicit table_buffer(table_layout const& layout);

  /// Returns false if there is no memory. The buffer must not be full, and Row must be the row type
  /// of its table.
  template <class Row>
  bool add(Row const& row) noexcept {
    if (tile_ == nullptr && !allocate()) return false;
    std::memcpy(tile_.get() + in_tile_ * sizeof(Row), &row, sizeof(Row));
    return ++in_tile_ < tile_rows_ || to_columns();
  }

  std::size_t rows() const noexcept { return in_columns_ + in_tile_; }
  bool is_full() const noexcept {
    return in_columns_ == block_rows || text_bytes_ >= block_text_bytes;
  }

  /// Returns the columns so far; valid until the next add() or clear().
  std::span<column_values const> columns() noexcept;
  void clear() noexcept;

  table_layout const& layout() const noexcept { return *layout_; }

 private:
  bool allocate() noexcept;
  bool to_columns() noexcept;
  bool keep_texts() noexcept;
  std::uint64_t* column(std::size_t place) noexcept;

  table_layout const* layout_;
  std::size_t tile_rows_;
  std::unique_ptr<std::byte[]> tile_;
  std::unique_ptr<std::uint64_t[]> columns_;
  std::vector<std::string> texts_;  // joined texts by place; empty for tables without texts
  std::vector<column_values> views_;
  std::size_t in_tile_ = 0;
  std::size_t in_columns_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace gpuprof::capture
