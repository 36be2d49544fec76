// SPDX-License-Identifier: Apache-2.0
// Says what a run has left, and removes the captures of processes that did nothing.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::host::command {

/// Writes a line of the command to stderr.
void say(std::string const& line);

/// For processes that ended by themselves, the library has already reported their captures.
void say_which_have_no_end(std::vector<std::string> const& captures);

/// Removes the captures of idle processes if others of the run have worked; else says that there is
/// no work in them. Returns those that stay.
std::vector<std::string> without_idle_processes(std::vector<std::string> const& captures,
                                                bool is_quiet);

/// Processes that have already reported the reason (an empty text) are not reported again.
void say_why_there_is_none(std::vector<std::string> const& reasons);

}  // namespace gpuprof::host::command
