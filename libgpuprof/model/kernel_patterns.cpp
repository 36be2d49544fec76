// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_patterns.hpp"

#include "model/kernel_name.hpp"

#include <algorithm>
#include <string>

namespace gpuprof {
namespace {

// A libstdc++ extension: a matcher that reads the name once and follows all alternatives in
// parallel. The default one recurses for every character and may take exponential time. Does not
// support back references.
constexpr auto grammar = std::regex::ECMAScript | std::regex_constants::__polynomial;

/// Adds a prefix that matches any text, otherwise the matcher would try every position separately.
std::regex anywhere(kernel_pattern const& wanted) {
  // Throws for invalid expressions; "a)(b" would be valid in parentheses.
  [[maybe_unused]] std::regex const valid_alone(wanted.text, grammar);
  auto const how = wanted.ignores_case ? grammar | std::regex::icase : grammar;
  return std::regex("[\\s\\S]*(?:" + wanted.text + ")", how | std::regex::nosubs);
}

}  // namespace

result<kernel_patterns> kernel_patterns::make(std::span<kernel_pattern const> patterns) {
  kernel_patterns made;
  for (auto const& wanted : patterns) {
    pattern p{wanted.text, {}};
    try {
      if (wanted.is_regex) p.expression.emplace(anywhere(wanted));
    } catch (std::regex_error const& e) {
      return error{"regex:" + wanted.text + " is not a regular expression (" + e.what() + ")"};
    }
    made.patterns_.push_back(std::move(p));
  }
  return made;
}

bool kernel_patterns::pattern::matches(std::string const& name) const {
  return expression ? std::regex_search(name, *expression, std::regex_constants::match_continuous)
                    : name == text;
}

bool kernel_patterns::match(std::string_view mangled) const {
  mangled = mangled.substr(0, max_name);
  std::string const names[] = {std::string(mangled),
                               kernel_display_name(mangled, kernel_name_style::demangled),
                               kernel_display_name(mangled, kernel_name_style::base)};
  return std::any_of(patterns_.begin(), patterns_.end(), [&](auto const& p) {
    return std::any_of(std::begin(names), std::end(names),
                       [&](auto const& name) { return p.matches(name); });
  });
}

}  // namespace gpuprof
