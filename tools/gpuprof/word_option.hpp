// SPDX-License-Identifier: Apache-2.0
// An option's word among those it takes.
#pragma once

#include "base/nearest_name.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {

template <class Value>
struct word_value {
  std::string_view word;
  Value value;
};

/// The error names the nearest of the words, and all that the option takes.
template <class Value, std::size_t N>
result<Value> choose(std::string_view option, std::string const& word,
                     word_value<Value> const (&values)[N]) {
  std::string words;
  std::vector<std::string> known;
  for (auto const& each : values) {
    if (each.word == word) return each.value;
    if (!words.empty()) words += ", ";
    words += each.word;
    known.emplace_back(each.word);
  }
  auto const near = nearest_name(word, known);
  return error{std::string(option) + " does not take '" + word + "'" +
               (near.empty() ? "" : ", did you mean " + near + "?") + "; choose from " + words};
}

}  // namespace gpuprof
