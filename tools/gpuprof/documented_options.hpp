// SPDX-License-Identifier: Apache-2.0
// Subcommands and options as a manual and a shell see them.
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
  std::string value;  // "FILE", "graph|node"; empty: a switch
  std::string help, default_value;
  std::string variable;  // of the environment; empty: there is none
  bool is_repeatable = false;
  value_words words;

  std::string first_sentence() const;
};

struct documented_command {
  std::string name, about;
  std::vector<documented_option> options;
  bool runs_program = false;    // the words after its options are a program's
  bool reads_captures = false;  // they are a capture
};

std::vector<documented_command> documented_commands(CLI::App const& app);

/// Replaces a piece of text by another wherever it stands.
inline std::string replaced(std::string text, std::string const& what, std::string const& by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace gpuprof::host::command
