// SPDX-License-Identifier: Apache-2.0
// Numbers with their units, as sentences have them; and text as a whole number.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace gpuprof {

/// "1.234 s", "12.3 us": a length of time with a unit that suits it.
std::string readable_time(double nanoseconds);
/// "12.3 MB".
std::string readable_bytes(double bytes);
/// 1234567 as "1,234,567".
std::string readable_count(std::uint64_t count);

/// "1 copy", "1,234 copies"; `plural` may go on: "1 kernel without time".
std::string counted(std::uint64_t count, std::string_view plural);

// Text as a whole number.

/// Nothing unless all of the text is one that fits.
template <class Number>
std::optional<Number> whole_number(std::optional<std::string> const& text) {
  Number value{};
  if (!text || text->empty()) return std::nullopt;
  auto const [end, failure] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failure != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

}  // namespace gpuprof
