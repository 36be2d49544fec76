// SPDX-License-Identifier: Apache-2.0
// Which format an output has: what --format says, else the extension of --output.
#pragma once

#include "word_option.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof {

/// "kernels.csv" -> csv, where that is one of the formats; ".txt" is a table.
template <class Value, std::size_t N>
std::optional<Value> format_by_extension(std::string_view output,
                                         word_value<Value> const (&formats)[N]) {
  auto const dot = output.rfind('.');
  auto const slash = output.rfind('/');
  if (dot == output.npos || dot == 0 || (slash != output.npos && dot <= slash + 1))
    return std::nullopt;
  auto const extension = output.substr(dot + 1);
  auto const word = extension == "txt" ? "table" : extension;
  auto const found = std::find_if(std::begin(formats), std::end(formats),
                                  [&](auto const& format) { return format.word == word; });
  return found != std::end(formats) ? std::optional(found->value) : std::nullopt;
}

}  // namespace gpuprof
