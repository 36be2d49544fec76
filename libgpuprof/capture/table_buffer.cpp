// SPDX-License-Identifier: Apache-2.0
#include "capture/table_buffer.hpp"

#include "capture/column_code.hpp"
#include "capture/directory.hpp"

#include <zstd.h>

#include <algorithm>
#include <new>

namespace gpuprof::capture {

struct block_encoder::compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<unsigned char> directory;
  std::vector<unsigned char> planes;
  std::vector<stored_column> columns;

  ~compressor() { ZSTD_freeCCtx(context); }

  void plan(std::span<column_values const> given);
  std::size_t raw_bytes(std::size_t rows) const noexcept;
  bool compress(std::span<column_values const> given, std::vector<unsigned char>& out);
  bool feed(unsigned char const* bytes, std::size_t count, ZSTD_EndDirective then,
            ZSTD_outBuffer& out) noexcept;
};

namespace {

// Shorter columns share a zstd block with their neighbors, because statistics of their own would
// cost more than they save.
constexpr std::size_t own_statistics_bytes = 4096;

}  // namespace

block_encoder::block_encoder() : compressor_(std::make_unique<compressor>()) {
  if (compressor_->context == nullptr) throw std::bad_alloc{};
  ZSTD_CCtx_setParameter(compressor_->context, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(compressor_->context, ZSTD_c_checksumFlag, 1);
}

block_encoder::~block_encoder() = default;

// Leaves out columns that are all zero: the reader uses zero for missing columns.
void block_encoder::compressor::plan(std::span<column_values const> given) {
  columns.clear();
  for (auto const& column : given) {
    auto const code = choose_code(column.values);
    if (code == column_code{}) continue;
    columns.push_back({.place = column.place,
                       .code = code,
                       .text_bytes = static_cast<std::uint32_t>(column.texts.size())});
  }
  write_directory(columns, directory);
}

std::size_t block_encoder::compressor::raw_bytes(std::size_t rows) const noexcept {
  auto bytes = directory.size();
  for (auto const& column : columns) bytes += column.payload_bytes(rows);
  return bytes;
}

bool block_encoder::compressor::feed(unsigned char const* bytes, std::size_t count,
                                     ZSTD_EndDirective then, ZSTD_outBuffer& out) noexcept {
  ZSTD_inBuffer in{bytes, count, 0};
  auto const left = ZSTD_compressStream2(context, &out, &in, then);
  return !ZSTD_isError(left) && in.pos == in.size && (then == ZSTD_e_continue || left == 0);
}

bool block_encoder::compressor::compress(std::span<column_values const> given,
                                         std::vector<unsigned char>& out) {
  auto const rows = given[0].values.size();
  auto const raw = raw_bytes(rows);
  ZSTD_CCtx_reset(context, ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(context, raw);

  // Each flush may add a few bytes to the bound.
  auto const first = out.size();
  out.resize(first + ZSTD_compressBound(raw) + 16 * (8 * columns.size() + 4));
  ZSTD_outBuffer to{out.data() + first, out.size() - first, 0};
  if (!feed(directory.data(), directory.size(), ZSTD_e_continue, to)) return false;

  for (auto const& column : columns) {
    auto const& source = *std::find_if(given.begin(), given.end(), [&](auto const& candidate) {
      return candidate.place == column.place;
    });
    auto const width = column.code.width;
    planes.resize(std::max<std::size_t>(planes.size(), width * rows));
    encode_planes(column.code, source.values, planes.data());
    auto const step = rows >= own_statistics_bytes ? ZSTD_e_flush : ZSTD_e_continue;
    for (std::size_t p = 0; p < width; ++p) {
      if (!feed(planes.data() + p * rows, rows, step, to)) return false;
    }
    auto const* const texts = reinterpret_cast<unsigned char const*>(source.texts.data());
    if (!feed(texts, source.texts.size(), ZSTD_e_continue, to)) return false;
  }
  if (!feed(nullptr, 0, ZSTD_e_end, to)) return false;
  out.resize(first + to.pos);
  return true;
}

bool block_encoder::append(std::uint16_t table, std::uint64_t sequence,
                           std::span<column_values const> columns,
                           std::vector<unsigned char>& out) noexcept {
  auto const first = out.size();
  try {
    compressor_->plan(columns);
    auto const rows = columns[0].values.size();
    out.resize(first + block_header_bytes);
    if (compressor_->compress(columns, out)) {
      auto const image = to_bytes(block_header{
          .table = table,
          .rows = static_cast<std::uint32_t>(rows),
          .stored_bytes = static_cast<std::uint32_t>(out.size() - first - block_header_bytes),
          .raw_bytes = static_cast<std::uint32_t>(compressor_->raw_bytes(rows)),
          .sequence = sequence});
      std::copy(image.begin(), image.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
      return true;
    }
  } catch (...) {  // no memory
  }
  out.resize(first);  // only shrinks, so it cannot throw
  return false;
}

namespace {

// The padding prevents columns from using the same cache sets.
constexpr std::size_t column_stride = block_rows + 24;
constexpr std::size_t rows_in_tile = 128;

static_assert(block_rows % rows_in_tile == 0 && block_rows <= max_block_rows);
// Must hold a block of the widest table, and a block full of texts whose last row has four texts of
// maximum length.
static_assert(directory_bytes(max_columns) + max_columns * 8 * block_rows + block_text_bytes +
                  4 * max_text_bytes <=
              max_block_raw_bytes);

}  // namespace

table_buffer::table_buffer(table_layout const& layout)
    : layout_(&layout),
      tile_rows_(layout.has_text ? 1 : rows_in_tile),
      texts_(layout.has_text ? layout.columns.size() : 0),
      views_(layout.columns.size()) {}

// Not initialized, so that pages without rows are never touched.
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

// Copies texts at once (a tile of texts has one row), because the caller's text may not live until
// the block is full.
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
    texts_[place].append(text);  // memory was reserved, so it cannot throw
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
