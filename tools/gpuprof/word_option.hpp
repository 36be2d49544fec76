// SPDX-License-Identifier: Apache-2.0
// Values of options: a word among those that an option takes, and checks that CLI11 has no word
// for.
#pragma once

#include "base/nearest_name.hpp"
#include "base/result.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {

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

/// A variable of the shell that is not set gives no word; so nothing would be asked for.
inline std::string not_empty(std::string const& value) {
  return value.empty() ? "is empty" : "";
}

/// It becomes the name of a folder, and a value of Hive's partitions.
inline std::string plain_name(std::string const& value) {
  auto const plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !value.empty() && std::all_of(value.begin(), value.end(), plain)
             ? ""
             : "takes letters, digits and ._- only";
}

}  // namespace gpuprof::host::command
