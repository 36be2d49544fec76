// SPDX-License-Identifier: Apache-2.0
#include "host/page/packed_columns.hpp"

#include <algorithm>
#include <bit>
#include <libdeflate.h>
#include <memory>
#include <new>

namespace gpuprof::host::page {
namespace {

constexpr int level = 6;  // level 9 takes four times as long and saves one percent
constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string deflated(std::string_view bytes) {
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> const compressor(
      libdeflate_alloc_compressor(level), &libdeflate_free_compressor);
  if (compressor == nullptr) throw std::bad_alloc();
  std::string out(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    auto const given = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < given ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i)
      out += i <= given ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

}  // namespace

std::string packed(std::string_view bytes) {
  return base64(deflated(bytes));
}

std::string planes_of(std::span<std::uint64_t const> numbers) {
  std::uint64_t all = 0;
  for (auto const number : numbers) all |= number;
  auto const planes = (static_cast<std::size_t>(std::bit_width(all)) + 7) / 8;
  std::string out(1, static_cast<char>(planes));
  out.reserve(1 + planes * numbers.size());
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (auto const number : numbers) out += static_cast<char>(number >> (8 * plane) & 0xff);
  return out;
}

}  // namespace gpuprof::host::page
