// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/line_table.hpp"

#include <cstddef>

namespace gpuprof::guest {
namespace {

// Each entry begins with a byte 1cccclll: a code, and the number of instructions less 1.
constexpr unsigned starts_entry = 0x80;
constexpr unsigned one_line_first = 10, one_line_last = 12, no_columns = 13, long_form = 14,
                   no_location = 15;
constexpr std::int64_t bytes_per_instruction = 2;

/// Reads a signed number of six bits a byte, lowest first; bit 6 says that another byte follows and
/// the lowest bit of the number is its sign.
std::int64_t signed_number(std::span<std::uint8_t const> bytes) noexcept {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (auto const byte : bytes) {
    if (shift >= 36) break;
    value |= std::uint64_t{byte & 63u} << shift;
    shift += 6;
    if ((byte & 64) == 0) break;
  }
  auto const magnitude = static_cast<std::int64_t>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

std::int64_t line_delta(unsigned code, std::span<std::uint8_t const> rest) noexcept {
  if (code == no_columns || code == long_form) return signed_number(rest);
  return code >= one_line_first && code <= one_line_last ? code - one_line_first : 0;
}

}  // namespace

std::uint32_t line_of_instruction(std::span<std::uint8_t const> table, std::uint32_t first_line,
                                  std::int64_t instruction) noexcept {
  std::int64_t line = first_line, begin = 0;
  for (std::size_t i = 0; i < table.size() && instruction >= 0;) {
    auto const head = table[i++];
    if ((head & starts_entry) == 0) break;  // damaged
    auto const code = (head >> 3) & 15u;
    line += line_delta(code, table.subspan(i));
    begin += ((head & 7) + 1) * bytes_per_instruction;
    if (instruction < begin) {
      auto const has_line = code != no_location && line > 0 && line <= 0x7fffffff;
      return has_line ? static_cast<std::uint32_t>(line) : first_line;
    }
    while (i < table.size() && (table[i] & starts_entry) == 0) ++i;
  }
  return first_line;
}

}  // namespace gpuprof::guest
