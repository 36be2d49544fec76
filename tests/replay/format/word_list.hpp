// SPDX-License-Identifier: Apache-2.0
// Splits a list at its commas: the form that variables of the replay have. No stream does it: they
// would bring half a megabyte of locales into the demo.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::replay {

/// "a,b" gives a and b, an empty text nothing.
inline std::vector<std::string> words_between_commas(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    auto const comma = text.find(',');
    words.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return words;
}

/// The list in this environment variable; nothing if it is not set.
inline std::vector<std::string> words_in_variable(char const* name) {
  char const* const text = std::getenv(name);
  return words_between_commas(text != nullptr ? text : "");
}

}  // namespace gpuprof::replay
