// A line on stderr that says how far a long read has come.
#pragma once

#include <cstdint>
#include <string>

namespace gpuprof {

/// Writes only when stderr is a terminal and more than a second has gone by; wiped at the end.
class progress_line {
 public:
  progress_line(std::string what, std::uint64_t total);
  ~progress_line();
  progress_line(progress_line const&) = delete;
  progress_line& operator=(progress_line const&) = delete;

  void advance(std::uint64_t by);

 private:
  std::string const what_;
  std::uint64_t const total_;
  bool const is_terminal_;
  std::uint64_t const started_;
  std::uint64_t done_ = 0;
  std::uint64_t next_ = 0;
  bool written_ = false;
};

}  // namespace gpuprof
