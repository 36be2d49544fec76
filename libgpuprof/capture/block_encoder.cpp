// SPDX-License-Identifier: Apache-2.0
#include "capture/block_encoder.hpp"

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

// Shorter stretches share a compressed block with their neighbors: a block of its own, with its
// own statistics, does not pay for them.
constexpr std::size_t own_statistics_bytes = 4096;

}  // namespace

block_encoder::block_encoder() : compressor_(std::make_unique<compressor>()) {
  if (compressor_->context == nullptr) throw std::bad_alloc{};
  ZSTD_CCtx_setParameter(compressor_->context, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(compressor_->context, ZSTD_c_checksumFlag, 1);
}

block_encoder::~block_encoder() = default;

// Columns that are zero throughout are left out: the reader gives zero for what it does not find.
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

  // Each flush may cost a few bytes beyond the bound.
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
  out.resize(first);  // never longer than before: cannot throw
  return false;
}

}  // namespace gpuprof::capture
