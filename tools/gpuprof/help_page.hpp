// SPDX-License-Identifier: Apache-2.0
// The layout of --help, and the messages for unknown words on the command line.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace gpuprof::host::command {

/// Prints usage first, then the purpose of the command. Prose is wrapped to the terminal's width.
void lay_out_help(CLI::App& app);

/// Returns one line: what is wrong, what was probably meant, and which --help to read.
std::string wrong_words(CLI::App const& app, CLI::ParseError const& wrong);

/// Returns one line if the first word is neither a subcommand nor an option, else an empty text.
std::string wrong_first_word(CLI::App const& app, std::string const& word);

}  // namespace gpuprof::host::command
