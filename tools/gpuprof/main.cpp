// The command gpuprof: reads the command line and runs one subcommand.
#include "subcommands.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  CLI::App app{
      "GPU profiler: traces CUDA programs and reports what their kernels, copies and NVTX ranges "
      "cost.",
      "gpuprof"};
  app.set_version_flag("--version", GPUPROF_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  try {
#ifdef GPUPROF_WITH_PROFILE
    gpuprof::add_profile(app, exit_code);
#endif
    gpuprof::add_stats(app, exit_code);
#ifdef GPUPROF_WITH_STATUS
    gpuprof::add_status(app, exit_code);
#endif
#ifdef GPUPROF_WITH_PROFILE
    app.parse(gpuprof::words_to_parse(argc, argv));
#else
    app.parse(argc, argv);
#endif
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
