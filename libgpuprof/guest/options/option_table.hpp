// SPDX-License-Identifier: Apache-2.0
// The only list of tracing options. The environment, the command line, the manual page and the
// shell completions are made from it or tested against it.
#pragma once

#include "base/result.hpp"
#include "guest/options/settings.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gpuprof::guest {

struct option {
  std::string_view name;          // "capture-range", without dashes
  char letter;                    // 'c'; 0: no short form
  std::string_view syntax;        // syntax of the value; empty: a switch
  std::string_view accepted;      // description of the accepted values, for messages
  std::string_view default_text;  // empty: no default
  std::string_view help;          // one line
  bool repeatable;                // may be repeated; separated by ';' in the environment
  /// Returns false if the value is not accepted. Then `settings` is unchanged.
  bool (*read)(settings&, std::string_view value);
  std::string_view words = {};  // fixed values of a list, with commas, if not in `syntax`

  bool is_switch() const noexcept { return syntax.empty(); }
};

/// Returns the options in the order of the manual.
std::span<option const> options() noexcept;

/// Returns nullptr if there is no option with this name.
option const* find_option(std::string_view name) noexcept;

/// "GPUPROF_CAPTURE_RANGE"
std::string environment_name(option const&);

/// Reads one value into `settings`. `source` is the option as the user spelled it ("--trace" or
/// "GPUPROF_TRACE"). Error messages begin with it.
result<void> set_option(settings&, option const&, std::string_view value, std::string_view source);

/// Returns the variables of gpuprof that begin with GPUPROF_ but are not options.
std::span<std::string_view const> other_variables() noexcept;

}  // namespace gpuprof::guest
