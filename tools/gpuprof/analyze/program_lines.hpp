// SPDX-License-Identifier: Apache-2.0
// Names the Python line behind a kernel, a call or idle time, for findings.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"
#include "host/analysis/idle_causes.hpp"
#include "host/analysis/stack_times.hpp"
#include "host/reading/trace_contents.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {

/// Empty where the capture holds no Python stacks.
class program_lines {
 public:
  program_lines() = default;
  /// Reads the names that it needs; `times` is finished.
  program_lines(trace_contents& trace, stack_times const& times);

  /// Fills in finding::line where it can be told.
  void name(std::span<advice::finding> findings) const;
  /// "train.py:61", with its share if it is not nearly all; takes nanoseconds by stack_id.
  std::string line_of(std::map<std::uint32_t, double> const& stacks) const;

 private:
  using by_line = std::map<std::string, double>;  // nanoseconds by "train.py:61"

  std::map<std::string, by_line, std::less<>> kernels_, calls_;
  by_line idle_;
  std::map<std::uint32_t, std::string> lines_;  // by stack_id
};

/// The looks into idle time in words, most first.
std::vector<advice::idle_look> idle_looks_of(trace_contents& trace, idle_causes const& causes);

}  // namespace gpuprof::host::command
