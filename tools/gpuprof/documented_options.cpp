// SPDX-License-Identifier: Apache-2.0
#include "documented_options.hpp"

#include "guest/options/option_table.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace gpuprof::host::command {

using namespace guest;

namespace {

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
  if (auto const* const traced = find_option(made.name); has_variables && traced != nullptr) {
    made.value = traced->syntax;
    made.variable = environment_name(*traced);
  }
  return made;
}

}  // namespace

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

}  // namespace gpuprof::host::command
