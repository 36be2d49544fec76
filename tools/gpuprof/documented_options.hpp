// SPDX-License-Identifier: Apache-2.0
// Lists subcommands and options for the manual and for shells.
#pragma once

#include "word_option.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gpuprof::host::command {

struct documented_option {
  std::string name;  // without dashes
  char letter = 0;
  std::string value;  // "FILE", "graph|node"; empty: takes no value
  std::string help, default_value;
  std::string variable;  // environment variable; empty: none
  bool is_repeatable = false;
  value_words words;

  std::string first_sentence() const;
};

struct documented_command {
  std::string name, about;
  std::vector<documented_option> options;
  bool runs_program = false;    // a program and its arguments follow the options
  bool reads_captures = false;  // captures follow the options
};

std::vector<documented_command> documented_commands(CLI::App const& app);

/// Replaces all occurrences of `what` by `by`.
inline std::string replaced(std::string text, std::string const& what, std::string const& by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace gpuprof::host::command
