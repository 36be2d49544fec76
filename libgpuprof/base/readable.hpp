// SPDX-License-Identifier: Apache-2.0
// Formats numbers with units for use in sentences, and converts text to a whole number.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace gpuprof {

/// Returns a length of time with a suitable unit: "1.234 s", "12.3 us".
std::string readable_time(double nanoseconds);
/// "12.3 MB".
std::string readable_bytes(double bytes);
/// Returns "1,234,567" for 1234567.
std::string readable_count(std::uint64_t count);

/// Returns "1 copy" or "1,234 copies". `plural` may have more words: "1 kernel without time".
std::string counted(std::uint64_t count, std::string_view plural);

// Converts text to a whole number.

/// Returns nothing unless the whole text is a number that fits.
template <class Number>
std::optional<Number> whole_number(std::optional<std::string> const& text) {
  Number value{};
  if (!text || text->empty()) return std::nullopt;
  auto const [end, failure] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failure != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

}  // namespace gpuprof
