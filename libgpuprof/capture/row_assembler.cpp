// SPDX-License-Identifier: Apache-2.0
#include "capture/row_assembler.hpp"

#include <algorithm>

namespace gpuprof::capture {

void row_assembler::next(std::byte* rows, std::size_t count) noexcept {
  for (auto& column : columns_) {
    if (column.place >= layout_->columns.size() || (wanted_ >> column.place & 1) == 0) continue;
    fill(column, layout_->columns[column.place], rows, count);
  }
  is_first_ = false;
}

void row_assembler::fill(readable_column& from, column_layout const& column, std::byte* rows,
                         std::size_t count) noexcept {
  auto const numbers = std::span{numbers_}.first(count);
  if (column.type == value_type::text) {
    // Lengths that ask for more than there is give short texts, not a read beyond the block.
    from.cursor.next(numbers);
    for (std::size_t i = 0; i < count; ++i) {
      auto const length = std::min<std::uint64_t>(numbers[i], from.texts.size());
      text_at(rows + i * layout_->row_bytes, column) = from.texts.substr(0, length);
      from.texts.remove_prefix(length);
    }
  } else if (!from.cursor.is_constant()) {
    from.cursor.next(numbers);
    scatter(numbers, column, rows, layout_->row_bytes);
  } else if (is_first_) {  // a constant is still there from the tile before
    std::fill(numbers.begin(), numbers.end(), from.cursor.constant());
    scatter(numbers, column, rows, layout_->row_bytes);
  }
}

}  // namespace gpuprof::capture
