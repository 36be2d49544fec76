// SPDX-License-Identifier: Apache-2.0
// Decodes whole tables of a capture into one array per column, several blocks in parallel.
#pragma once

#include "base/result.hpp"
#include "capture/block_index.hpp"
#include "capture/input_file.hpp"
#include "capture/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::capture {

/// The destination of one column's values, which have the width of the type; a bool takes a byte.
/// Not for texts.
struct column_array {
  std::uint16_t place = 0;  // in the table's list of columns
  value_type type{};
  std::byte* values = nullptr;
};

/// Returns the size in bytes of a value in such an array.
std::size_t bytes_of(value_type type) noexcept;

/// The blocks of a capture, for callers that need columns instead of rows. Has its own index of the
/// file and shares nothing with a reader on another thread.
class whole_columns {
 public:
  static result<whole_columns> open(std::string const& path);

  /// Returns the blocks of a table in file order, as indices of blocks in the file.
  std::vector<std::size_t> blocks_of(std::uint16_t table) const;
  /// Number of rows in the block's header.
  std::size_t rows_in(std::size_t block) const noexcept { return blocks_[block].header.rows; }

  /// Fills the arrays with the rows of these blocks, in this order. Each array must have room for
  /// all of them and hold zeros. Returns the number of rows; damaged blocks have none. A column
  /// that is not in the file stays zero, the default of every column. Uses up to four threads.
  std::size_t read(std::span<std::size_t const> blocks, std::span<column_array const> to) const;

 private:
  whole_columns(input_file file, std::vector<block_place> blocks)
      : file_(std::move(file)), blocks_(std::move(blocks)) {}

  input_file file_;
  std::vector<block_place> blocks_;
};

}  // namespace gpuprof::capture
