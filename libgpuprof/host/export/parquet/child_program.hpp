// SPDX-License-Identifier: Apache-2.0
// A program that works for the command: its lines on stdout are read, its stderr is the command's.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gpuprof {

class child_program {
 public:
  static result<child_program> start(std::vector<std::string> const& words);
  child_program(child_program&&) noexcept;
  child_program& operator=(child_program&&) = delete;
  /// One that still runs is told to stop, and waited for.
  ~child_program();

  /// Calls `line` for each line until stdout ends, `idle` when for a while there was none; what
  /// these throw ends the program.
  void read(std::function<void(std::string const&)> const& line, std::function<void()> const& idle);
  /// Its exit code; 128 + the signal that ended it; cannot_tell where the system does not say.
  static constexpr int cannot_tell = 125;
  int wait();

 private:
  child_program(pid_t process, int from) : process_(process), from_(from) {}
  pid_t process_;  // 0: was waited for
  int from_;
};

}  // namespace gpuprof
