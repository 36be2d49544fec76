// SPDX-License-Identifier: Apache-2.0
// The one list of tracing options: the environment, the command line, the manual page and the shell
// completions are all made from it or tested against it.
#pragma once

#include "base/result.hpp"
#include "guest/options/settings.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gpuprof::guest {

struct option {
  std::string_view name;          // "capture-range", without dashes
  char letter;                    // 'c'; 0: there is no short form
  std::string_view syntax;        // of the value; empty: a switch
  std::string_view accepted;      // the accepted values, in words, for messages
  std::string_view default_text;  // empty: none
  std::string_view help;          // one line
  bool repeatable;                // may be given several times; in the environment ';' separates
  /// False: the value is not accepted and `settings` is unchanged.
  bool (*read)(settings&, std::string_view value);
  std::string_view words = {};  // of a list: its fixed values, where `syntax` lacks them; by commas

  bool is_switch() const noexcept { return syntax.empty(); }
};

/// In the order in which the manual lists them.
std::span<option const> options() noexcept;

/// nullptr when there is no option of this name.
option const* find_option(std::string_view name) noexcept;

/// "GPUPROF_CAPTURE_RANGE"
std::string environment_name(option const&);

/// Reads one value into `settings`. `source` is how the user spelled the option: "--trace" or
/// "GPUPROF_TRACE"; it begins the message.
result<void> set_option(settings&, option const&, std::string_view value, std::string_view source);

/// Variables that begin with GPUPROF_, are ours and are no option.
std::span<std::string_view const> other_variables() noexcept;

}  // namespace gpuprof::guest
