// SPDX-License-Identifier: Apache-2.0
// The gpuprof command: reads the command line and runs one subcommand.
#include "base/log.hpp"
#include "base/process.hpp"
#include "help_page.hpp"
#include "library_file.hpp"
#include "status_checks.hpp"
#include "subcommands.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace command = gpuprof::host::command;

namespace {

constexpr char const* examples =
    "gpuprof demo                                       a recorded session, without a GPU\n"
    "gpuprof profile -o run python3 train.py             trace a program into run.gpuprof\n"
    "gpuprof profile --metrics auto -o run ./train       with hardware counters, for 1 % of its "
    "time\n"
    "gpuprof roofline run.gpuprof                        how far each kernel is from what the GPU "
    "can do\n"
    "LD_PRELOAD=$(gpuprof --library) python3 train.py    trace a program that is started otherwise";

/// Turns "help stats" into "stats --help".
std::vector<char const*> words_of(int argc, char** argv) {
  std::vector<char const*> words(argv, argv + argc);
  if (argc == 1) words.push_back("--help");
  if (argc < 2 || std::string(argv[1]) != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back("--help");
  return words;
}

int run(CLI::App& app, std::vector<char const*> const& words, int const& exit_code) {
  try {
    app.parse(command::words_to_parse(static_cast<int>(words.size()), words.data()));
  } catch (CLI::ParseError const& wrong) {
    if (wrong.get_exit_code() == 0) {  // --help, --version, --library
      app.exit(wrong);
      return exit_code;
    }
    std::fprintf(stderr, "%s\n", command::wrong_words(app, wrong).c_str());
    return 2;
  }
  return exit_code;
}

/// The program may have its own CUPTI; `gpuprof status` tells more.
std::string version_text() {
  return "gpuprof " GPUPROF_VERSION " (" GPUPROF_BUILT ")\nCUPTI here: " + command::cupti_here();
}

/// Prints only the value for LD_PRELOAD; returns the exit status.
int print_library() {
  auto const library = command::find_library_file();
  if (!library) {
    std::fprintf(stderr, "gpuprof: %s\n", library.message().c_str());
    return 1;
  }
  std::printf("%s\n", command::preload_file(*library).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // Log lines for developers, for example how often the tables of a capture were decoded.
    if (gpuprof::environment("GPUPROF_LOG_LEVEL") == "debug")
      gpuprof::set_log_level(gpuprof::log_level::debug);
    CLI::App app{
        "Traces CUDA programs, and says what their kernels, copies and NVTX ranges cost and how "
        "far they are from what the GPU can do.",
        "gpuprof"};
    app.set_version_flag("-V,--version", version_text,
                         "Version, what it was built with, and the CUPTI of this machine");
    app.require_subcommand(1);
    app.footer(examples);
    int exit_code = 0;
    app.add_flag_callback(
        "--library",
        [&exit_code] {
          exit_code = print_library();
          throw CLI::Success();
        },
        "Print the library that LD_PRELOAD takes, for programs that you do not start yourself");
    command::add_profile(app, exit_code);
    command::add_stats(app, exit_code);
    command::add_roofline(app, exit_code);
    command::add_analyze(app, exit_code);
    command::add_lines(app, exit_code);
    command::add_whatif(app, exit_code);
    command::add_sweep(app, exit_code);
    command::add_compare(app, exit_code);
    command::add_report(app, exit_code);
    command::add_export(app, exit_code);
    command::add_import(app, exit_code);
    command::add_peaks(app, exit_code);
    command::add_metrics(app, exit_code);
    command::add_status(app, exit_code);
    command::add_demo(app, exit_code);
    command::add_documents(app, exit_code);
    command::lay_out_help(app);
    auto const words = words_of(argc, argv);
    if (auto const wrong = command::wrong_first_word(app, words[1]); !wrong.empty()) {
      std::fprintf(stderr, "%s\n", wrong.c_str());
      return 2;
    }
    return run(app, words, exit_code);
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "gpuprof: stopped, nothing more is written: %s\n", failure.what());
    return 1;
  }
}
