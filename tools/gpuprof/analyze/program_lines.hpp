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

/// Where in the program something comes from; what is not known is empty.
struct program_place {
  std::string line;    // "train.py:61"
  std::string module;  // "transformer.h.*.mlp.c_fc: Conv1D", of PyTorch
};

/// Empty where the capture holds no Python stacks.
class program_lines {
 public:
  using by_stack = std::map<std::uint32_t, double>;  // nanoseconds by stack_id

  program_lines() = default;
  /// Reads the names that it needs; `times` is finished.
  program_lines(trace_contents& trace, stack_times const& times);

  /// Fills in finding::line and finding::module where they can be told.
  void name(std::span<advice::finding> findings) const;
  /// The line and the module with most of the time, each with its share if it is not nearly all. A
  /// module with less than half is not named.
  program_place main_place(by_stack const& stacks) const;

 private:
  std::map<std::string, by_stack, std::less<>> kernels_, calls_;
  by_stack idle_;
  std::map<std::uint32_t, program_place> places_;  // by stack_id
};

/// The looks into idle time in words, most first.
std::vector<advice::idle_look> idle_looks_of(trace_contents& trace,
                                             idle_causes::looks_sum const& seen);

}  // namespace gpuprof::host::command
