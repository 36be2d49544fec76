// SPDX-License-Identifier: Apache-2.0
// gpuprof documents MANUAL FOLDER: writes the manual page, from the command line's own options, and
// the completions of shells.
#include "base/result.hpp"
#include "documented_options.hpp"
#include "shell_completions.hpp"
#include "subcommands.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

namespace gpuprof::host::command {
namespace {

/// Keeps dashes as dashes, and prevents roff from taking the beginning of a line as a command.
std::string roff(std::string const& text) {
  auto plain = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  return plain.starts_with('.') || plain.starts_with('\'') ? "\\&" + plain : plain;
}

/// Sets placeholders such as FILE in italics.
std::string roff_syntax(std::string const& syntax) {
  std::string text;
  for (std::size_t i = 0; i < syntax.size();) {
    auto const length = length_of_placeholder(syntax, i);
    if (length > 0)
      text += "\\fI" + syntax.substr(i, length) + "\\fR";
    else
      text += syntax[i] == '-' ? "\\-" : std::string(1, syntax[i]);
    i += std::max<std::size_t>(length, 1);
  }
  return text;
}

std::string manual_entry(documented_option const& o) {
  auto text = std::string(".TP\n.BR ") +
              (o.letter != 0 ? std::string("\\-") + o.letter + " \", \" " : "") +
              roff("--" + o.name) + (o.value.empty() ? "" : " \" \" " + roff_syntax(o.value)) +
              "\n" + roff(o.help);
  if (!o.default_value.empty()) text += " Default: " + roff(o.default_value) + ".";
  if (!o.variable.empty()) text += " (" + o.variable + (o.value.empty() ? "=1" : "") + ")";
  return text + "\n";
}

std::string manual_page(std::vector<documented_command> const& commands, std::string const& page) {
  auto text = page;
  for (auto const& command : commands) {
    std::string entries;
    for (auto const& option : command.options) entries += manual_entry(option);
    text = replaced(text, "@OPTIONS " + command.name + "@\n", entries);
  }
  return text;
}

result<void> write_file(std::string const& name, std::string const& text) {
  std::ofstream out(name, std::ios::binary);
  out << text;
  out.close();
  if (!out) return error{"cannot write " + name};
  return {};
}

/// Writes gpuprof.1, gpuprof.bash, _gpuprof and gpuprof.fish to `folder`. `manual` is the page
/// without options: a line "@OPTIONS stats@" is replaced by the options of that subcommand.
result<void> write_documents(CLI::App const& app, std::string const& manual,
                             std::string const& folder) {
  std::ifstream in(manual, std::ios::binary);
  std::ostringstream page;
  page << in.rdbuf();
  if (!in) return error{"cannot read " + manual};
  auto const commands = documented_commands(app);
  auto const text = manual_page(commands, page.str());
  if (auto const at = text.find("@OPTIONS"); at != text.npos)
    return error{manual + " asks for the options of an unknown subcommand: " + text.substr(at, 30)};
  for (auto const& [name, content] : {std::pair<char const*, std::string>{"gpuprof.1", text},
                                      {"gpuprof.bash", bash_completion(commands)},
                                      {"_gpuprof", zsh_completion(commands)},
                                      {"gpuprof.fish", fish_completion(commands)}})
    if (auto done = write_file(folder + "/" + name, content); !done) return done;
  return {};
}

}  // namespace

void add_documents(CLI::App& app, int& exit_code) {
  struct arguments {
    std::string manual, folder;
  };
  auto const given = std::make_shared<arguments>();
  auto* const command =
      app.add_subcommand("documents", "Write the manual page and the completions");
  command->group("");
  command->add_option("MANUAL", given->manual)->required();
  command->add_option("FOLDER", given->folder)->required();
  command->callback([&app, given, &exit_code] {
    auto const written = write_documents(app, given->manual, given->folder);
    if (!written) std::fprintf(stderr, "gpuprof documents: %s\n", written.message().c_str());
    exit_code = written ? 0 : 1;
  });
}

}  // namespace gpuprof::host::command
