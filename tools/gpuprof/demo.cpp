// SPDX-License-Identifier: Apache-2.0
// gpuprof demo: profiles a recorded session like a real program, and shows the reports.
#include "base/process.hpp"
#include "run_program.hpp"
#include "subcommands.hpp"
#include "word_option.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace gpuprof::host::command {
namespace {

namespace fs = std::filesystem;

constexpr char const* usual_name = "gpuprof-demo";

struct demo_options {
  std::string name = usual_name;
  bool force_overwrite = false;
};

int fail(std::string const& message) {
  std::fprintf(stderr, "gpuprof demo: %s\n", message.c_str());
  return 1;
}

fs::path demo_folder() {
  return (fs::path(program_path()).parent_path() / GPUPROF_DEMO_FROM_BIN).lexically_normal();
}

/// True for variables that change what is recorded, its name, or the tool.
bool steers_a_profile(std::string_view name) {
  if (name.starts_with("GPUPROF_")) return name != "GPUPROF_LIBRARY" && name != "GPUPROF_LOG_LEVEL";
  return name.starts_with("REPLAY_") || name.ends_with("_INJECTION64_PATH") ||
         name == "LD_PRELOAD" || name == "RANK" || name.ends_with("_RANK") ||
         name == "SLURM_PROCID";
}

/// Returns the environment of the steps, such that a session gives the same reports on every
/// machine.
std::vector<std::string> environment_of_steps(fs::path const& folder) {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view const text = *entry;
    if (!steers_a_profile(text.substr(0, text.find('=')))) kept.emplace_back(text);
  }
  kept.push_back("GPUPROF_CUPTI_PATH=" + (folder / "libcupti.so.13").string());
  kept.push_back(
      "GPUPROF_SAMPLE=none");  // what the player's threads do says nothing of the session
  return kept;
}

/// Runs one command of gpuprof and prints it. Returns its exit status.
int run_step(std::vector<std::string> const& words, std::vector<std::string> const& environment) {
  std::string line;
  for (auto const& word : words) line += " " + word;
  std::printf("\n$ gpuprof%s\n", line.c_str());
  std::fflush(stdout);
  std::vector<std::string> command{"gpuprof"};
  command.insert(command.end(), words.begin(), words.end());
  return run_program(program_path(), command, environment).exit_code;
}

int run(demo_options const& options) {
  auto const folder = demo_folder();
  auto const player = (folder / "play-session").string();
  auto const session = (folder / "session.gprec").string();
  if (!fs::exists(player) || !fs::exists(session))
    return fail("there is no recorded session in " + folder.string() +
                ": this build or package was made without it");
  auto const environment = environment_of_steps(folder);
  auto const told = run_program(player, {player, session, "--about"}, environment);
  if (told.exit_code != 0)
    return fail("the session cannot be played here: " +
                (told.message.empty() ? "see above" : told.message));

  auto name = options.name;
  if (name.ends_with(".gpuprof")) name.resize(name.size() - std::string_view(".gpuprof").size());
  // Replaces an earlier demo, but no capture of the user.
  bool const replace = options.force_overwrite || name == usual_name;
  auto const command = [&](std::vector<std::string> words, std::vector<std::string> const& rest) {
    if (replace) words.emplace_back("--force-overwrite");
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
  };
  auto const capture = name + ".gpuprof", page = name + ".html";
  if (run_step(command({"profile", "-o", capture}, {player, session}), environment) != 0)
    return fail("nothing was recorded; see above");
  for (auto const& step : {std::vector<std::string>{"stats", capture},
                           {"analyze", capture},
                           command({"report", "-o", page}, {capture})})
    if (run_step(step, environment) != 0) return fail(step.front() + " has failed; see above");
  std::error_code none;
  std::printf(
      "\nThe page is %s: open it in a browser. With a GPU, profile a program of yours:\n"
      "gpuprof profile --metrics auto -o run python3 train.py\n",
      fs::absolute(page, none).c_str());
  return 0;
}

}  // namespace

void add_demo(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<demo_options>();
  auto* const command =
      app.add_subcommand("demo", "Profile a recorded session, with no GPU, and show the reports");
  auto* const output =
      command->add_option("-o,--output", options->name,
                          "NAME of the capture and of the page, without .gpuprof and .html");
  output->check(not_empty)->capture_default_str();
  complete_with(output, {.words = {}, .is_file = true});
  command->add_flag("--force-overwrite", options->force_overwrite,
                    "Replace existing files of another name than gpuprof-demo");
  command->footer(
      "The session was recorded on a GPU. What the program did there is played here to the same "
      "library that records any program; the first line says which GPU it was. Hardware counters "
      "are not part of it.\nExit status: 0 done, 1 it could not be done, 2 the command line is "
      "wrong.");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace gpuprof::host::command
