// SPDX-License-Identifier: Apache-2.0
#include "capture/table_buffer.hpp"

#include "capture/directory.hpp"

#include <new>

namespace gpuprof::capture {
namespace {

// The padding keeps the columns from falling into the same cache sets.
constexpr std::size_t column_stride = block_rows + 24;
constexpr std::size_t rows_in_tile = 128;

static_assert(block_rows % rows_in_tile == 0 && block_rows <= max_block_rows);
// A block of the widest table, and one full of texts whose last row has four of the longest.
static_assert(directory_bytes(max_columns) + max_columns * 8 * block_rows + block_text_bytes +
                  4 * max_text_bytes <=
              max_block_raw_bytes);

}  // namespace

table_buffer::table_buffer(table_layout const& layout)
    : layout_(&layout),
      tile_rows_(layout.has_text ? 1 : rows_in_tile),
      texts_(layout.has_text ? layout.columns.size() : 0),
      views_(layout.columns.size()) {}

// Not initialized: pages that no row reaches are never touched.
bool table_buffer::allocate() noexcept {
  columns_.reset(new (std::nothrow) std::uint64_t[layout_->columns.size() * column_stride]);
  if (columns_ == nullptr) return false;
  tile_.reset(new (std::nothrow) std::byte[tile_rows_ * layout_->row_bytes]);
  return tile_ != nullptr;
}

std::uint64_t* table_buffer::column(std::size_t place) noexcept {
  return columns_.get() + place * column_stride;
}

bool table_buffer::to_columns() noexcept {
  if (layout_->has_text && in_tile_ > 0 && !keep_texts()) {
    in_tile_ = 0;
    return false;
  }
  for (std::size_t place = 0; place < layout_->columns.size(); ++place) {
    gather(layout_->columns[place], tile_.get(), layout_->row_bytes,
           {column(place) + in_columns_, in_tile_});
  }
  in_columns_ += in_tile_;
  in_tile_ = 0;
  return true;
}

// Texts are copied at once, a tile being one row: the caller's may be gone before the block is
// full.
bool table_buffer::keep_texts() noexcept {
  try {
    for (std::size_t place = 0; place < texts_.size(); ++place) {
      auto const& layout = layout_->columns[place];
      if (layout.type != value_type::text) continue;
      auto& text = text_at(tile_.get(), layout);
      text = text.substr(0, max_text_bytes);
      texts_[place].reserve(texts_[place].size() + text.size());
    }
  } catch (...) {  // no memory
    return false;
  }
  for (std::size_t place = 0; place < texts_.size(); ++place) {
    auto const& layout = layout_->columns[place];
    if (layout.type != value_type::text) continue;
    auto const text = text_at(tile_.get(), layout);
    texts_[place].append(text);  // reserved: cannot throw
    text_bytes_ += text.size();
  }
  return true;
}

std::span<column_values const> table_buffer::columns() noexcept {
  if (in_tile_ > 0) to_columns();
  for (std::size_t place = 0; place < views_.size(); ++place) {
    views_[place] = {.place = static_cast<std::uint16_t>(place),
                     .values = {column(place), in_columns_},
                     .texts = texts_.empty() ? std::string_view{} : texts_[place]};
  }
  return views_;
}

void table_buffer::clear() noexcept {
  for (auto& text : texts_) text.clear();
  in_tile_ = in_columns_ = text_bytes_ = 0;
}

}  // namespace gpuprof::capture
