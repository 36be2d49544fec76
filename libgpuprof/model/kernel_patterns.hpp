// SPDX-License-Identifier: Apache-2.0
// Matches names of kernels against the patterns of the user.
#pragma once

#include "base/result.hpp"
#include "model/kernel_pattern.hpp"

#include <optional>
#include <regex>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof {

/// A name matches if any pattern matches the mangled, the demangled or the base name (without
/// namespaces, template arguments and parameters). Plain patterns must equal the whole name;
/// regular expressions (ECMAScript without back references) may match anywhere.
class kernel_patterns {
 public:
  /// An error reads "regex:a( is not a regular expression (...)".
  static result<kernel_patterns> make(std::span<kernel_pattern const> patterns);

  bool empty() const noexcept { return patterns_.empty(); }
  /// Demangles the name, so callers should cache the result. Only the first `max_name` bytes of a
  /// name are used.
  bool match(std::string_view mangled) const;

  static constexpr std::size_t max_name = 8192;

 private:
  struct pattern {
    std::string text;
    std::optional<std::regex> expression;
    bool matches(std::string const& name) const;
  };
  std::vector<pattern> patterns_;
};

}  // namespace gpuprof
