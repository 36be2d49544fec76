// An option's word among those it takes.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof {

template <class Value>
struct choice {
  std::string_view word;
  Value value;
};

/// The error names all words the option takes.
template <class Value, std::size_t N>
result<Value> choose(std::string_view option, std::string const& word,
                     choice<Value> const (&choices)[N]) {
  std::string words;
  for (auto const& choice : choices) {
    if (choice.word == word) return choice.value;
    if (!words.empty()) words += ", ";
    words += choice.word;
  }
  return error{std::string(option) + " does not take '" + word + "'; choose from " + words};
}

}  // namespace gpuprof
