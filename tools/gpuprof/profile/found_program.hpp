// SPDX-License-Identifier: Apache-2.0
// The program that a command line names, and whether a library can be preloaded into it.
#pragma once

#include <string>
#include <variant>

namespace gpuprof::host::command {

struct program_file {
  std::string path;
  /// Why a library cannot be preloaded, and an alternative; empty if it can.
  std::string preload_obstacle;
  /// The program needs AddressSanitizer's library, which ends a program if it is not loaded first.
  bool has_address_sanitizer = false;
};

struct no_program {
  int exit_code = 127;  // exit codes of the shell: 127 not found, 126 not executable
  std::string message;
};

/// Looks for `name` as a shell does.
std::variant<program_file, no_program> find_program(std::string const& name);

}  // namespace gpuprof::host::command
