// SPDX-License-Identifier: Apache-2.0
// Finds the program to run, as a shell would, with what its file says about being preloaded into.
#pragma once

#include <string>
#include <variant>

namespace gpuprof::host::command {

struct program_file {
  std::string path;
  /// Why a library cannot be preloaded, with what works instead; empty when it can.
  std::string preload_obstacle;
  /// It needs the library of AddressSanitizer, which ends a program in which it is not the first.
  bool has_address_sanitizer = false;
};

struct no_program {
  int exit_code = 127;  // 127 not found, 126 not executable: the shell's numbers
  std::string message;
};

std::variant<program_file, no_program> find_program(std::string const& name);

}  // namespace gpuprof::host::command
