// SPDX-License-Identifier: Apache-2.0
// Values of options: a choice among words, and checks that CLI11 does not have.
#pragma once

#include "base/nearest_name.hpp"
#include "base/result.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class Option;
}

namespace gpuprof::host::command {

template <class Value>
struct word_value {
  std::string_view word;
  Value value;
};

/// The error suggests the nearest word and lists all that the option takes.
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

/// An unset shell variable gives an empty value, and the option would then have no effect.
inline std::string not_empty(std::string const& value) {
  return value.empty() ? "is empty" : "";
}

/// The value becomes the name of a folder, and a value of Hive's partitions.
inline std::string plain_name(std::string const& value) {
  auto const plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !value.empty() && std::all_of(value.begin(), value.end(), plain)
             ? ""
             : "takes letters, digits and ._- only";
}

struct value_words {
  std::vector<std::string> words;  // empty: any value
  bool is_list = false;            // several words, separated by commas
  bool is_file = false;
};

/// Returns the length of the placeholder in capitals at this place of a syntax: 4 for "FILE", 0 for
/// "cudaApi".
std::size_t length_of_placeholder(std::string_view syntax, std::size_t at) noexcept;

void complete_with(CLI::Option* option, value_words words);
value_words const& completion_of(CLI::Option const* option);

template <class Value, std::size_t N>
void complete_with(CLI::Option* option, word_value<Value> const (&values)[N],
                   bool is_list = false) {
  value_words all{.words = {}, .is_list = is_list};
  for (auto const& each : values) all.words.emplace_back(each.word);
  complete_with(option, std::move(all));
}

}  // namespace gpuprof::host::command
