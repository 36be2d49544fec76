// SPDX-License-Identifier: Apache-2.0
// Puts the columns of a loaded block together as rows, a small tile at a time.
#pragma once

#include "capture/block_decoder.hpp"
#include "capture/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuprof::capture {

/// Tiles, because a block of rows does not fit the caches that the caller wants for its own work.
inline constexpr std::size_t tile_rows = 1024;

/// For one block; reads its columns front to back. Texts in the rows live as long as the block
/// stays loaded.
class row_assembler {
 public:
  /// Bit p of `wanted`: fill in the column at place p.
  row_assembler(table_layout const& layout, std::span<readable_column> columns,
                std::uint64_t wanted) noexcept
      : layout_(&layout), columns_(columns), wanted_(wanted) {}

  /// Fills in the next `count` rows, at most tile_rows. `rows` is the same memory at each call;
  /// at the first it holds tile_rows default rows.
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
