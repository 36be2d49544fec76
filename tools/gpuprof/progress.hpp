// SPDX-License-Identifier: Apache-2.0
// Lines on stderr that show the progress of a long job.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace gpuprof::host::command {

/// One line that is overwritten, only if stderr is a terminal; erased at the end. If there are
/// several, only the first one that shows something is visible.
class terminal_line {
 public:
  terminal_line();
  ~terminal_line();
  terminal_line(terminal_line const&) = delete;
  terminal_line& operator=(terminal_line const&) = delete;

  bool is_there() const noexcept { return is_terminal_; }
  void show(std::string const& text);

 private:
  bool const is_terminal_;
  bool written_ = false;
};

/// Returns "45 %, 2.1 M rows/s, 3 s left".
std::string progress_text(std::uint64_t done, std::uint64_t total, std::uint64_t elapsed_ns);

/// Shows how much of a total is done, how fast, and how long the rest takes. Appears after a
/// second.
class progress_line {
 public:
  progress_line(std::string what, std::uint64_t total);

  void advance(std::uint64_t by);

 private:
  terminal_line line_;
  std::string const what_;
  std::uint64_t const total_;
  std::uint64_t done_ = 0;
  std::uint64_t const begin_;  // monotonic clock
  std::uint64_t next_;
};

/// Returns such a line as a function that takes the amount of new progress. The line ends with the
/// last copy of the function.
std::function<void(std::uint64_t)> progress_of(std::string what, std::uint64_t total);

}  // namespace gpuprof::host::command
