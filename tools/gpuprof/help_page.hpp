// SPDX-License-Identifier: Apache-2.0
// How --help looks, and what is said of words that the command line does not know.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace gpuprof::host::command {

/// Usage first, then what the command is for; prose broken at blanks, as wide as the terminal.
void lay_out_help(CLI::App& app);

/// One line: what is wrong, what was probably meant, and whose --help to read.
std::string wrong_words(CLI::App const& app, CLI::ParseError const& wrong);

/// Empty, or one line on a first word that is neither a subcommand nor an option.
std::string wrong_first_word(CLI::App const& app, std::string const& word);

}  // namespace gpuprof::host::command
