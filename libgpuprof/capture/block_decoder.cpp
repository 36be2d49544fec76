// SPDX-License-Identifier: Apache-2.0
#include "capture/block_decoder.hpp"

#include <zstd.h>

#include <algorithm>
#include <new>

namespace gpuprof::capture {

struct block_decoder::decompressor {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~decompressor() { ZSTD_freeDCtx(context); }
};

block_decoder::block_decoder() : decompressor_(std::make_unique<decompressor>()) {
  if (decompressor_->context == nullptr) throw std::bad_alloc{};
}
block_decoder::~block_decoder() = default;
block_decoder::block_decoder(block_decoder&&) noexcept = default;
block_decoder& block_decoder::operator=(block_decoder&&) noexcept = default;

// zstd verifies the content checksum only if the frame header says that there is one. Requires it,
// so that a damaged bit cannot disable the check.
bool block_decoder::decompress(block_header const& header) {
  constexpr std::size_t shortest_frame = 4 + 1 + 1 + 3 + 4;
  constexpr unsigned checksum_flag = 0x04;  // RFC 8878, 3.1.1.1.1
  auto const size = stored_.size();
  if (size < shortest_frame || (stored_[4] & checksum_flag) == 0 ||
      ZSTD_getFrameContentSize(stored_.data(), size) != header.raw_bytes ||
      ZSTD_findFrameCompressedSize(stored_.data(), size) != size) {
    return false;
  }
  content_.resize(header.raw_bytes);
  return ZSTD_decompressDCtx(decompressor_->context, content_.data(), content_.size(),
                             stored_.data(), size) == content_.size();
}

bool block_decoder::load(input_file const& file, block_place const& place) {
  columns_.clear();
  stored_.resize(place.header.stored_bytes);
  if (!file.read(place.offset, stored_) || !decompress(place.header) ||
      !read_directory(content_, place.header.rows, directory_)) {
    return false;
  }
  auto const* payload = content_.data() + directory_bytes(directory_.size());
  for (auto const& column : directory_) {
    auto const planes = std::size_t{column.code.width} * place.header.rows;
    columns_.push_back(
        {.place = column.place,
         .cursor = {column.code, payload, place.header.rows},
         .texts = {reinterpret_cast<char const*>(payload + planes), column.text_bytes}});
    payload += planes + column.text_bytes;
  }
  return true;
}

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
    // Clamps damaged lengths, so that they give short texts instead of a read beyond the block.
    from.cursor.next(numbers);
    for (std::size_t i = 0; i < count; ++i) {
      auto const length = std::min<std::uint64_t>(numbers[i], from.texts.size());
      text_at(rows + i * layout_->row_bytes, column) = from.texts.substr(0, length);
      from.texts.remove_prefix(length);
    }
  } else if (!from.cursor.is_constant()) {
    from.cursor.next(numbers);
    scatter(numbers, column, rows, layout_->row_bytes);
  } else if (is_first_) {  // a constant is still in `rows` from the first tile
    std::fill(numbers.begin(), numbers.end(), from.cursor.constant());
    scatter(numbers, column, rows, layout_->row_bytes);
  }
}

}  // namespace gpuprof::capture
