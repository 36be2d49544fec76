// The command gpuprof: reads the command line and runs one subcommand.
#include "subcommands.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

namespace {

/// CLI11 would only say that a subcommand is required.
bool names_no_subcommand(CLI::App& app, std::string const& word) {
  auto const all = app.get_subcommands([](CLI::App*) { return true; });
  return !word.starts_with('-') && std::none_of(all.begin(), all.end(), [&](CLI::App* subcommand) {
    return subcommand->get_name() == word;
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "GPU profiler: traces CUDA programs and reports what their kernels, copies and NVTX ranges "
      "cost.",
      "gpuprof"};
  app.set_version_flag("--version", GPUPROF_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  try {
    gpuprof::add_profile(app, exit_code);
    gpuprof::add_stats(app, exit_code);
    gpuprof::add_roofline(app, exit_code);
    gpuprof::add_peaks(app, exit_code);
    gpuprof::add_metrics(app, exit_code);
    gpuprof::add_status(app, exit_code);
    if (argc > 1 && names_no_subcommand(app, argv[1])) {
      std::fprintf(stderr, "gpuprof: there is no subcommand '%s'; see gpuprof --help\n", argv[1]);
      return 2;
    }
    app.parse(gpuprof::words_to_parse(argc, argv));
  } catch (CLI::ParseError const& wrong) {
    if (wrong.get_exit_code() == 0) return app.exit(wrong);  // --help, --version
    std::fprintf(stderr, "gpuprof: %s; see gpuprof --help\n", wrong.what());
    return 2;
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "gpuprof: stopped, nothing more is written: %s\n", failure.what());
    return 1;
  }
  return exit_code;
}
