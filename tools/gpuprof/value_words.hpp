// SPDX-License-Identifier: Apache-2.0
// What a shell completes the value of an option with; CLI11 has no place for it.
#pragma once

#include "word_option.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class Option;
}

namespace gpuprof::host::command {

struct value_words {
  std::vector<std::string> words;  // empty: anything
  bool is_list = false;            // several, separated by commas
  bool is_file = false;
};

/// Of what stands for a value at this place of a syntax, in capitals: 4 of "FILE", 0 of "cudaApi".
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
