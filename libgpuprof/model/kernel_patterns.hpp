// SPDX-License-Identifier: Apache-2.0
// Holds names of kernels against what the user asked for.
#pragma once

#include "base/result.hpp"
#include "model/kernel_pattern.hpp"

#include <optional>
#include <regex>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof {

/// A name matches when any pattern matches the mangled name, the demangled one or the base name
/// (without namespaces, template arguments and parameters). Plain patterns must be the whole name;
/// regular expressions (ECMAScript without back references) may be found anywhere.
class kernel_patterns {
 public:
  /// "regex:a( is not a regular expression (...)".
  static result<kernel_patterns> make(std::span<kernel_pattern const> patterns);

  bool empty() const noexcept { return patterns_.empty(); }
  /// Costs a demangling: remember the answer. Of longer names the beginning counts.
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
