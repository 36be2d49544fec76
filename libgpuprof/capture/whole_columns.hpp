// SPDX-License-Identifier: Apache-2.0
// Decodes whole tables of a capture into one array for each column, several blocks at once.
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

/// Where the values of one column go, as wide as its type says; a bool takes a byte. Not for texts.
struct column_array {
  std::uint16_t place = 0;  // in its table
  value_type type{};
  std::byte* values = nullptr;
};

/// Bytes of a value in such an array.
std::size_t bytes_of(value_type type) noexcept;

/// The blocks of a capture, for those that want columns instead of rows. It has its own index of
/// the file: nothing is shared with a reader that is used on another thread.
class whole_columns {
 public:
  static result<whole_columns> open(std::string const& path);

  /// The blocks of a table in file order, by their place in the file.
  std::vector<std::size_t> blocks_of(std::uint16_t table) const;
  /// As the header of the block says.
  std::size_t rows_in(std::size_t block) const noexcept { return blocks_[block].header.rows; }

  /// Fills the arrays with the rows of these blocks, in this order; each array has room for all of
  /// them and holds zeros. Returns how many rows there are: blocks that are damaged have none. A
  /// column that the file does not know stays zero, which is the default of every column. Uses up
  /// to four threads.
  std::size_t read(std::span<std::size_t const> blocks, std::span<column_array const> to) const;

 private:
  whole_columns(input_file file, std::vector<block_place> blocks)
      : file_(std::move(file)), blocks_(std::move(blocks)) {}

  input_file file_;
  std::vector<block_place> blocks_;
};

}  // namespace gpuprof::capture
