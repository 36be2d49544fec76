// SPDX-License-Identifier: Apache-2.0
#include "word_option.hpp"

#include <map>
#include <utility>

namespace gpuprof::host::command {
namespace {

std::map<CLI::Option const*, value_words>& known() {
  static std::map<CLI::Option const*, value_words> all;
  return all;
}

}  // namespace

std::size_t length_of_placeholder(std::string_view syntax, std::size_t at) noexcept {
  auto const is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (at > 0 && is_letter(syntax[at - 1])) return 0;
  auto end = at;
  while (end < syntax.size() && ((syntax[end] >= 'A' && syntax[end] <= 'Z') || syntax[end] == '_'))
    ++end;
  return end < syntax.size() && is_letter(syntax[end]) ? 0 : end - at;
}

void complete_with(CLI::Option* option, value_words words) {
  known()[option] = std::move(words);
}

value_words const& completion_of(CLI::Option const* option) {
  return known()[option];
}

}  // namespace gpuprof::host::command
