// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/environment_copy.hpp"

#include <unistd.h>

extern char** environ;

namespace gpuprof::guest {

environment_copy::environment_copy() {
  for (auto** at = environ; at != nullptr && *at != nullptr; ++at) {
    std::string_view const text = *at;
    auto const equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables_.push_back(
        {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
  }
}

std::optional<std::string> environment_copy::value_of(std::string_view name) const {
  for (auto const& variable : variables_)
    if (variable.name == name) return variable.value;
  return std::nullopt;
}

}  // namespace gpuprof::guest
