// SPDX-License-Identifier: Apache-2.0
// gpuprof documents MANUAL FOLDER: writes the manual page, from the command line's own options, and
// the completions of shells.
#include "base/result.hpp"
#include "guest/options/option_table.hpp"
#include "subcommands.hpp"
#include "texts.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace gpuprof::host::command {
namespace {

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

/// Replaces all occurrences of `what` by `by`.
std::string replaced(std::string text, std::string const& what, std::string const& by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// In "NAME[,NAME...]: which reports", the part before ": " describes the value.
std::size_t end_of_value(std::string const& help) {
  auto const colon = help.find(": ");
  if (colon == help.npos || help[0] < 'A' || help[0] > 'Z') return help.npos;
  auto const value = help.substr(0, colon);
  bool const is_value = value.find(' ') == value.npos && value.size() > 0 &&
                        !(value.size() > 1 && value[1] >= 'a' && value[1] <= 'z');
  return is_value ? colon : help.npos;
}

std::string default_of(CLI::Option const& option) {
  auto value = option.get_default_str();
  if (value.starts_with('[')) value = value.substr(1, value.size() - 2);
  return value;
}

documented_option documented(CLI::Option const& option, bool has_variables) {
  documented_option made;
  made.name = option.get_lnames().front();
  if (!option.get_snames().empty()) made.letter = option.get_snames().front()[0];
  made.help = option.get_description();
  made.words = completion_of(&option);
  made.is_repeatable = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  if (option.get_type_size() != 0) {
    auto const type = option.get_type_name();
    auto const known = type.substr(0, type.find(':'));  // CLI11 appends checks
    auto const colon = end_of_value(made.help);
    if (known != "TEXT" && known != "INT" && known != "UINT" && known != "FLOAT")
      made.value = known;
    else if (colon != made.help.npos)
      made.value = made.help.substr(0, colon);
    else
      made.value = known == "TEXT" ? "VALUE" : "N";
    made.default_value = default_of(option);
  }
  if (!made.help.empty() && !made.help.ends_with('.')) made.help += '.';
  if (auto const* const traced = guest::find_option(made.name);
      has_variables && traced != nullptr) {
    made.value = traced->syntax;
    made.variable = guest::environment_name(*traced);
  }
  return made;
}

std::string documented_option::first_sentence() const {
  auto const colon = end_of_value(help);
  auto text = colon != help.npos ? help.substr(colon + 2) : help;
  auto end = std::min(text.find(". "), text.find("; "));
  auto const colon_inside = text.find(": ");
  if (colon_inside < text.find('(')) end = std::min(end, colon_inside);
  text = text.substr(0, std::min(end, text.size()));
  while (text.ends_with('.')) text.pop_back();
  return text;
}

std::vector<documented_command> documented_commands(CLI::App const& app) {
  std::vector<documented_command> commands;
  for (auto const* const subcommand : app.get_subcommands({})) {
    if (subcommand->get_group().empty()) continue;  // hidden from users
    auto& command = commands.emplace_back();
    command.name = subcommand->get_name();
    command.about = subcommand->get_description();
    command.runs_program = subcommand->get_prefix_command();
    for (auto const* const option : subcommand->get_options()) {
      if (option->get_positional()) command.reads_captures = true;
      if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
      command.options.push_back(documented(*option, command.runs_program));
    }
  }
  return commands;
}

std::string subcommand_names(std::vector<documented_command> const& commands) {
  std::string names;
  for (auto const& command : commands) names += command.name + " ";
  return names;
}

// --- bash --------------------------------------------------------------------

std::string bash_options(documented_option const& o) {
  return (o.letter != 0 ? std::string("-") + o.letter + " | " : "") + "--" + o.name;
}

std::string bash_values(documented_option const& o) {
  auto const words = "'" + joined(o.words.words, " ") + "'";
  if (o.words.is_file) return "COMPREPLY=($(compgen -f -- \"$current\"))";
  if (o.words.words.empty()) return "COMPREPLY=()";
  return o.words.is_list ? "_gpuprof_list " + words
                         : "COMPREPLY=($(compgen -W " + words + " -- \"$current\"))";
}

std::string bash_command(documented_command const& command) {
  std::string text = "    " + command.name + ")\n      case \"$previous\" in\n", names, last;
  for (auto const& o : command.options) {
    names += "--" + o.name + " ";
    if (!o.value.empty()) text += "        " + bash_options(o) + ") " + bash_values(o) + " ;;\n";
  }
  if (command.runs_program)
    last = "COMPREPLY=($(compgen -c -f -- \"$current\"))";
  else if (command.reads_captures)
    last =
        "COMPREPLY=($(compgen -f -X '!*.gpuprof' -- \"$current\") $(compgen -d -- \"$current\"))";
  else
    last = "COMPREPLY=()";
  return text +
         "        *)\n          if [[ $current == -* ]]; then\n            COMPREPLY=($(compgen "
         "-W '" +
         names + "--help' -- \"$current\"))\n          else\n            " + last +
         "\n          fi\n          ;;\n      esac\n      ;;\n";
}

/// Finds where the words of the profiled program begin, because these are not options of gpuprof.
std::string bash_program(std::vector<documented_command> const& commands) {
  std::string with_value;
  for (auto const& command : commands)
    for (auto const& o : command.options)
      if (command.runs_program && !o.value.empty())
        with_value += (with_value.empty() ? "" : " | ") + bash_options(o);
  return "_gpuprof_program() {\n  local i\n  for ((i = 2; i < COMP_CWORD; ++i)); do\n"
         "    case \"${COMP_WORDS[i]}\" in\n      --) ((++i)); break ;;\n      " +
         with_value +
         ") ((++i)) ;;\n      -*) ;;\n      *) break ;;\n    esac\n  done\n"
         "  ((i < COMP_CWORD)) || return 1\n"
         "  if declare -F _command_offset >/dev/null; then\n    _command_offset \"$i\"\n  else\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n  fi\n  return 0\n}\n";
}

std::string bash_completion(std::vector<documented_command> const& commands) {
  std::string text =
      "# bash completion for gpuprof\n\n"
      "# Words of a list that commas part: what stands before the last comma stays.\n"
      "_gpuprof_list() {\n  local before=\"\"\n"
      "  [[ $current == *,* ]] && before=\"${current%,*},\"\n"
      "  COMPREPLY=($(compgen -P \"$before\" -W \"$1\" -- \"${current##*,}\"))\n}\n\n"
      "# The words before the program being profiled belong to gpuprof, those after it to the "
      "program.\n" +
      bash_program(commands) +
      "\n_gpuprof() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
      "  COMPREPLY=()\n  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W '" +
      subcommand_names(commands) +
      "--help --version --library' -- \"$current\"))\n    return\n  fi\n"
      "  case \"${COMP_WORDS[1]}\" in\n";
  for (auto const& command : commands)
    if (command.runs_program) text += "    " + command.name + ") _gpuprof_program && return ;;&\n";
  for (auto const& command : commands) text += bash_command(command);
  return text + "  esac\n}\ncomplete -o filenames -F _gpuprof gpuprof\n";
}

// --- zsh ---------------------------------------------------------------------

std::string zsh_quoted(std::string const& text) {
  return replaced(replaced(replaced(replaced(text, "'", "'\\''"), "[", "\\["), "]", "\\]"), ":",
                  "\\:");
}

std::string zsh_value(documented_option const& o) {
  if (o.words.is_file) return ":file:_files";
  if (o.words.words.empty()) return ":value:";
  auto const words = zsh_quoted(joined(o.words.words, " "));
  return o.words.is_list ? ":value:_values -s , value " + words : ":value:(" + words + ")";
}

std::string zsh_option(documented_option const& o) {
  auto const help = "[" + zsh_quoted(o.first_sentence()) + "]";
  auto const value = o.value.empty() ? "" : zsh_value(o);
  auto const several = o.is_repeatable ? "*" : "";
  auto const long_name = "--" + o.name + (o.value.empty() ? "" : "=");
  if (o.letter == 0) return "'" + std::string(several) + long_name + help + value + "'";
  auto const short_name = std::string("-") + o.letter + (o.value.empty() ? "" : "+");
  auto const together =
      o.is_repeatable ? "'*'" : "'(-" + std::string(1, o.letter) + " --" + o.name + ")'";
  return together + "{" + short_name + "," + long_name + "}'" + help + value + "'";
}

// A leading -- is still among the words of the program.
constexpr char const* zsh_program =
    "_gpuprof_program() {\n  if [[ $words[1] == -- ]] && ((CURRENT > 1)); then\n"
    "    shift words\n    ((CURRENT--))\n  fi\n  _normal\n}\n\n";

std::string zsh_completion(std::vector<documented_command> const& commands) {
  auto text = std::string("#compdef gpuprof\n\n") + zsh_program +
              "_gpuprof() {\n  if ((CURRENT == 2)) && [[ $words[2] == -* ]]; then\n"
              "    _arguments '--help[show the commands]' '--version[show the versions]' "
              "'--library[print what LD_PRELOAD takes]'\n"
              "    return\n  fi\n"
              "  if ((CURRENT == 2)); then\n    local -a commands=(\n";
  for (auto const& command : commands)
    text += "      '" + command.name + ":" + zsh_quoted(command.about) + "'\n";
  text +=
      "    )\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (auto const& command : commands) {
    text += "    " + command.name + ")\n      _arguments -S -s \\\n";
    for (auto const& o : command.options) text += "        " + zsh_option(o) + " \\\n";
    text += "        '--help[show the options]'";
    if (command.runs_program) text += " \\\n        '(-)*::program:_gpuprof_program'";
    if (command.reads_captures) text += " \\\n        '*:capture:_files -g \"*.gpuprof\"'";
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\n\n_gpuprof \"$@\"\n";
}

// --- fish --------------------------------------------------------------------

std::string fish_quoted(std::string const& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_complete(documented_command const& command) {
  return "complete -c gpuprof -n '__gpuprof_is " + command.name +
         (command.runs_program ? "; and not __gpuprof_has_program'" : "'");
}

std::string fish_option(documented_command const& command, documented_option const& o) {
  auto text = fish_complete(command) + (o.letter != 0 ? std::string(" -s ") + o.letter : "") +
              " -l " + o.name;
  if (o.value.empty())
    text += command.runs_program ? "" : " -f";
  else if (o.words.is_file)
    text += " -r";
  else
    text += " -x";
  auto const words = joined(o.words.words, " ");
  if (!words.empty())
    text += " -a " + fish_quoted(o.words.is_list ? "(__fish_append , " + words + ")" : words);
  return text + " -d " + fish_quoted(o.first_sentence()) + "\n";
}

/// Returns "-o --output -t --trace": options whose next word is a value and not the program.
std::string fish_options_with_value(documented_command const& command) {
  std::string text;
  for (auto const& o : command.options)
    if (!o.value.empty())
      text += (o.letter != 0 ? std::string(" -") + o.letter : "") + " --" + o.name;
  return text;
}

/// Finds where the words of the profiled program begin, because these are not options of gpuprof.
std::string fish_program(documented_command const& command) {
  return "function __gpuprof_has_program\n"
         "    set --local words (commandline -opc)\n    set --erase words[1..2]\n"
         "    while set --query words[1]\n        set --local word $words[1]\n"
         "        set --erase words[1]\n        switch $word\n"
         "            case --\n                set --query words[1]\n                return\n"
         "            case" +
         fish_options_with_value(command) +
         "\n                set --erase words[1]\n            case '-*'\n"
         "            case '*'\n                return 0\n        end\n    end\n    return "
         "1\nend\n\n";
}

/// fish takes names before the first word that is not --NAME for its own options.
std::string fish_subcommand(documented_command const& command) {
  return "complete -c gpuprof -n '__gpuprof_is " + command.name +
         "' -x -a '(__fish_complete_subcommand --fcs-skip=2 -" + fish_options_with_value(command) +
         ")'\n";
}

std::string fish_completion(std::vector<documented_command> const& commands) {
  std::string text =
      "# fish completion for gpuprof\n\nfunction __gpuprof_is\n"
      "    set --local words (commandline -opc)\n"
      "    test (count $words) -ge 2; and test $words[2] = $argv[1]\nend\n\n";
  for (auto const& command : commands)
    if (command.runs_program) text += fish_program(command);
  for (auto const& command : commands)
    text += "complete -c gpuprof -n __fish_use_subcommand -f -a " + command.name + " -d " +
            fish_quoted(command.about) + "\n";
  text +=
      "complete -c gpuprof -n __fish_use_subcommand -l help -d 'show the commands'\n"
      "complete -c gpuprof -n __fish_use_subcommand -l version -d 'show the versions'\n"
      "complete -c gpuprof -n __fish_use_subcommand -l library -d 'print what LD_PRELOAD takes'\n";
  for (auto const& command : commands) {
    for (auto const& o : command.options) text += fish_option(command, o);
    text += fish_complete(command) + " -l help -d 'show the options'\n";
    if (command.runs_program) text += fish_subcommand(command);
    if (command.reads_captures)
      text += "complete -c gpuprof -n '__gpuprof_is " + command.name +
              "' -k -x -a '(__fish_complete_suffix .gpuprof)'\n";
  }
  return text;
}

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
