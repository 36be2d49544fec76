// How --help looks, and what is said of words that the command line does not know.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace gpuprof {

/// Usage first, then what the command is for; prose broken at blanks, as wide as the terminal.
void lay_out_help(CLI::App& app);

/// One line: what is wrong, what was probably meant, and whose --help to read.
std::string wrong_words(CLI::App const& app, CLI::ParseError const& wrong);

/// Empty, or one line on a first word that is no subcommand.
std::string no_such_subcommand(CLI::App const& app, std::string const& word);

}  // namespace gpuprof
