// SPDX-License-Identifier: Apache-2.0
// A pattern with which the user selects kernels.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof {

struct kernel_pattern {
  std::string text;
  bool is_regex = false;      // false: the whole name must be equal
  bool ignores_case = false;  // only for regular expressions
  friend bool operator==(kernel_pattern const&, kernel_pattern const&) = default;
};

/// Parses NAME or regex:EXPRESSION.
inline kernel_pattern kernel_pattern_of(std::string_view text) {
  constexpr std::string_view mark = "regex:";
  auto const is_regex = text.starts_with(mark);
  return {std::string(is_regex ? text.substr(mark.size()) : text), is_regex, false};
}

}  // namespace gpuprof
