// SPDX-License-Identifier: Apache-2.0
// Names the Python line behind a kernel, a call or idle time, for findings.
#pragma once

#include "host/advice/finding.hpp"
#include "host/analysis/stack_times.hpp"
#include "host/reading/trace_contents.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::host::command {

/// Empty where the capture holds no Python stacks.
class program_lines {
 public:
  program_lines() = default;
  /// Reads the names that it needs; `times` is finished.
  program_lines(trace_contents& trace, stack_times const& times);

  /// Fills in finding::line where it can be told.
  void name(std::span<advice::finding> findings) const;

 private:
  using by_line = std::map<std::string, double>;  // nanoseconds by "train.py:61"

  std::map<std::string, by_line, std::less<>> kernels_, calls_;
  by_line idle_;
};

}  // namespace gpuprof::host::command
