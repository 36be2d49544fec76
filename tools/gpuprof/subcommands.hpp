// SPDX-License-Identifier: Apache-2.0
// The subcommands of gpuprof: each adds itself to the command line and sets the exit code when run.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gpuprof::host::command {

// Exit codes: 0 success, 1 failure, 2 wrong command line.
void add_profile(CLI::App& app, int& exit_code);
/// Returns the words after the program's name in reverse order, as CLI11 wants them. Leaves out a
/// "--" before the program to profile, because CLI11 cannot handle it there.
std::vector<std::string> words_to_parse(int argc, char const* const* argv);
void add_stats(CLI::App& app, int& exit_code);
void add_roofline(CLI::App& app, int& exit_code);
void add_analyze(CLI::App& app, int& exit_code);
void add_lines(CLI::App& app, int& exit_code);
void add_whatif(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);  // also 3: the gate cannot be decided
void add_report(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_peaks(CLI::App& app, int& exit_code);
void add_metrics(CLI::App& app, int& exit_code);
void add_status(CLI::App& app, int& exit_code);
void add_demo(CLI::App& app, int& exit_code);
/// Not for users: the build uses it to write the manual page and the completions.
void add_documents(CLI::App& app, int& exit_code);

}  // namespace gpuprof::host::command
