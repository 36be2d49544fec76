// SPDX-License-Identifier: Apache-2.0
// Text as a whole number.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <system_error>

namespace gpuprof {

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
