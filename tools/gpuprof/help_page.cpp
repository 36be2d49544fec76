// SPDX-License-Identifier: Apache-2.0
#include "help_page.hpp"

#include "base/nearest_name.hpp"
#include "terminal.hpp"
#include "text/padding.hpp"
#include "word_option.hpp"
#include "words_of_others.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace gpuprof::host::command {
namespace {

constexpr std::size_t width_of_files = 100, option_column = 30;

std::size_t page_width() {
  auto const width = page_of(stdout, false).width;
  return width == 0 ? width_of_files : std::max<std::size_t>(width, 2 * option_column);
}

/// Wraps each line of the text separately.
std::string wrapped_lines(std::string const& text, std::size_t width) {
  std::string all;
  for (std::size_t from = 0; from < text.size();) {
    auto const to = std::min(text.find('\n', from), text.size());
    all += text::wrapped(std::string_view(text).substr(from, to - from), width, 2) + "\n";
    from = to + 1;
  }
  return all;
}

class help_page : public CLI::Formatter {
 public:
  std::string make_help(CLI::App const* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    auto text = make_usage(app, std::move(name)) + "\n" +
                text::wrapped(app->get_description(), page_width()) + "\n";
    // Puts first what most people need.
    if (!app->get_subcommands({}).empty())
      return text + make_footer(app) + make_subcommands(app, mode) + make_groups(app, mode);
    text += make_positionals(app) + make_groups(app, mode) + make_subcommands(app, mode);
    return text + make_footer(app);
  }

  std::string make_usage(CLI::App const* app, std::string name) const override {
    auto usage = "Usage: " + name;
    if (!app->get_subcommands({}).empty()) return usage + " COMMAND [OPTION]...\n";
    usage += " [OPTION]...";
    for (auto const* const option : app->get_options())
      if (option->get_positional())
        usage +=
            " " +
            (option->get_required() ? option->get_name(true) : "[" + option->get_name(true) + "]") +
            (option->get_items_expected_max() > 1 ? "..." : "");
    if (app->get_prefix_command()) usage += " [--] PROGRAM [ARGUMENT]...";
    return usage + "\n";
  }

  std::string make_footer(CLI::App const* app) const override {
    auto const text = app->get_footer();
    return text.empty() ? text : "\n" + wrapped_lines(text, page_width());
  }

  std::string make_option_opts(CLI::Option const* option) const override {
    if (option->get_type_size() == 0 || option->get_positional()) return {};
    auto const type = option->get_type_name();
    auto const known = type.substr(0, type.find(':'));  // CLI11 appends checks
    if (known == "TEXT") return " VALUE";
    return known == "INT" || known == "UINT" || known == "FLOAT" ? " N" : " " + type;
  }

  std::string make_option_desc(CLI::Option const* option) const override {
    auto text = option->get_description();
    auto value = option->get_default_str();
    if (value.starts_with('[')) value = value.substr(1, value.size() - 2);  // the value is a list
    for (auto at = value.find(','); at != value.npos; at = value.find(',', at + 2))
      value.insert(at + 1, 1, ' ');
    if (!value.empty()) text += (text.ends_with('.') ? " Default: " : ". Default: ") + value;
    return text;
  }

  std::string make_option(CLI::Option const* option, bool is_positional) const override {
    return line_of(make_option_name(option, is_positional) + make_option_opts(option),
                   make_option_desc(option));
  }

  std::string make_subcommand(CLI::App const* subcommand) const override {
    return line_of(subcommand->get_name(), subcommand->get_description());
  }

 private:
  static std::string line_of(std::string const& what, std::string const& text) {
    auto line = "  " + what;
    if (line.size() + 1 >= option_column) line += '\n';
    auto const begun = line.ends_with('\n') ? 0 : line.size();
    line.append(option_column - begun, ' ');
    std::string indented(option_column, ' ');
    auto const wrapped = text::wrapped(indented + text, page_width(), option_column);
    return line + wrapped.substr(option_column) + "\n";
  }
};

CLI::App const* chosen_subcommand(CLI::App const& app) {
  auto const chosen = app.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

std::string unknown_option(CLI::App const& of, std::string const& word) {
  std::vector<std::string> known;
  for (auto const* const one : of.get_options())
    for (auto const& name : one->get_lnames()) known.push_back("--" + name);
  auto const spelled = word.substr(0, word.find('='));
  auto const near = nearest_name(spelled, known);
  return "there is no option " + spelled + (near.empty() ? "" : ", did you mean " + near + "?");
}

std::string unknown_word(CLI::App const& of) {
  auto const left = of.remaining();
  auto const option = std::find_if(left.begin(), left.end(),
                                   [](auto const& word) { return word.starts_with('-'); });
  if (left.empty()) return {};
  if (option == left.end()) return "'" + left.front() + "' is one word too many";
  return unknown_option(of, *option);
}

/// Returns "--type is required: choose from csv, json, ..."; empty if what is missing is no choice.
std::string missing_choice(CLI::App const& of) {
  for (auto const* const option : of.get_options()) {
    auto const& words = completion_of(option).words;
    if (!option->get_required() || option->count() > 0 || words.empty()) continue;
    std::string all;
    for (auto const& word : words) all += (all.empty() ? "" : ", ") + word;
    return "--" + option->get_lnames().front() + " is required: choose from " + all;
  }
  return {};
}

/// Says in plain words what CLI11 calls "Could not convert: --limit = abc".
std::string no_number(std::string_view said) {
  auto const name = said.rfind(": ");
  auto const equals = said.find(" = ", name == said.npos ? 0 : name);
  if (name == said.npos || equals == said.npos) return {};
  return std::string(said.substr(name + 2, equals - name - 2)) + " takes a number, not '" +
         std::string(said.substr(equals + 3)) + "'";
}

}  // namespace

void lay_out_help(CLI::App& app) {
  auto const page = std::make_shared<help_page>();
  app.formatter(page);
  for (auto* const subcommand : app.get_subcommands([](CLI::App*) { return true; }))
    subcommand->formatter(page);
}

std::string wrong_words(CLI::App const& app, CLI::ParseError const& wrong) {
  auto const* const chosen = chosen_subcommand(app);
  auto const command = std::string("gpuprof") + (chosen != nullptr ? " " + chosen->get_name() : "");
  std::string what;
  if (dynamic_cast<CLI::ExtrasError const*>(&wrong) != nullptr)
    what = unknown_word(chosen != nullptr ? *chosen : app);
  if (dynamic_cast<CLI::RequiredError const*>(&wrong) != nullptr && chosen != nullptr)
    what = missing_choice(*chosen);
  if (dynamic_cast<CLI::ConversionError const*>(&wrong) != nullptr) what = no_number(wrong.what());
  return command + ": " + (what.empty() ? wrong.what() : what) + "; see " + command + " --help";
}

std::string wrong_first_word(CLI::App const& app, std::string const& word) {
  if (word.starts_with('-'))
    return app.get_option_no_throw(word) != nullptr
               ? std::string()
               : "gpuprof: " + unknown_option(app, word) + "; see gpuprof --help";
  std::vector<std::string> names{"help"};
  for (auto const* const known : app.get_subcommands({})) names.push_back(known->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return {};
  if (auto const here = in_place_of_command(word); !here.empty())
    return "gpuprof: there is no command '" + word + "'; " + std::string(here);
  auto const near = nearest_name(word, names);
  return "gpuprof: there is no command '" + word + "'" +
         (near.empty() ? "" : ", did you mean " + near + "?") + "; see gpuprof --help";
}

}  // namespace gpuprof::host::command
