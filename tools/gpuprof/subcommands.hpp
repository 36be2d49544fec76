// The subcommands of gpuprof: each adds itself to the command line and sets the exit code when run.
#pragma once

namespace CLI {
class App;
}

namespace gpuprof {

// Exit codes: 0 done, 1 it could not be done, 2 the command line is wrong.
void add_profile(CLI::App& app, int& exit_code);
void add_stats(CLI::App& app, int& exit_code);
void add_status(CLI::App& app, int& exit_code);

}  // namespace gpuprof
