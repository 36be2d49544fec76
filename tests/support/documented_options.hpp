// Compares the options of a subcommand, as its --help has them, with the manual and the
// completions.
#pragma once

#include "support/catch.hpp"
#include "support/run_cli.hpp"

#include <regex>
#include <set>
#include <string>

namespace gpuprof::test {

/// A file below tools/, without backslashes: roff writes \- for a dash.
inline std::string document(std::string const& path) {
  auto text = read_file(std::string(GPUPROF_DOCUMENTS) + "/" + path);
  REQUIRE_FALSE(text.empty());
  std::erase(text, '\\');
  return text;
}

/// `count`: how many options there are, with help.
inline void check_documented_options(std::string const& command, std::string const& help,
                                     std::size_t count) {
  static std::regex const spelling("--([a-z]+(?:-[a-z]+)*)");
  std::set<std::string> options;
  for (std::sregex_iterator i(help.begin(), help.end(), spelling), end; i != end; ++i)
    options.insert((*i)[1]);
  CHECK(options.size() == count);
  auto const manual = document("man/gpuprof.1");
  auto const bash = document("completion/gpuprof.bash"), zsh = document("completion/_gpuprof"),
             fish = document("completion/gpuprof.fish");
  auto const offers = [&](std::string const& option) {  // in fish; some have a letter, too
    auto const start = "__gpuprof_is " + command + "' ";
    return std::regex_search(fish, std::regex(start + "(-s . )?-l " + option + " "));
  };
  for (auto const& option : options) {
    INFO(option);
    auto const dashed = "--" + option;
    CHECK((option == "help" || manual.find(dashed) != std::string::npos));
    CHECK(bash.find(dashed) != std::string::npos);
    CHECK(zsh.find(dashed) != std::string::npos);
    CHECK((option == "help" || offers(option)));
  }
}

}  // namespace gpuprof::test
