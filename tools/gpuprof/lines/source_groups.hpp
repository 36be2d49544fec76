// SPDX-License-Identifier: Apache-2.0
// The places in a program that launch GPU work: lines, functions, files or modules.
#pragma once

#include "host/analysis/roofline_row.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/stack_times.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {

struct line_options {
  stack_grouping grouping = stack_grouping::line;
  std::vector<std::string> own = {};  // folders of the program; empty: all but installed packages
  bool whole_stacks = false;          // the innermost frame counts, in whatever file it is
  bool for_programs = false;          // columns of the roofline have the names and units of its csv
  bool python_only = false;           // without native frames
  bool each_module = false;  // modules whose paths differ in numbers have rows of their own
};

/// "line", "function", "file", "module".
std::string_view word_of(stack_grouping grouping) noexcept;

struct source_group {
  std::string name;  // "train.py:61"; the path of a module
  source_place where;
  bool is_native = false;     // a function of machine code
  std::uint64_t modules = 0;  // that the row stands for
  stack_sum own;
  double total_ns = 0;  // GPU time, also of what it called in own code
  // The work of these stacks counts for it, and that of these threads, which have none.
  std::vector<stack_id> stacks;
  std::vector<thread_index> threads;
};

/// By module, the backward pass belongs to the module whose forward pass made it, where operators
/// were recorded: it has none itself.
constexpr bool credits_forward(stack_grouping grouping) noexcept {
  return grouping == stack_grouping::module;
}

/// Reads the GPU work that passes `wanted`, in order of time, to be grouped in this way.
/// `python_only`: a stack is its part in Python.
stack_times read_source_times(trace_contents& trace, selection const& wanted,
                              stack_grouping grouping, bool python_only = false);

/// Most GPU time first.
std::vector<source_group> group_by_source(stack_times const& times, trace_contents& trace,
                                          line_options const& options);

/// Why a capture has no such groups; empty if it has some.
std::string without_stacks(trace_contents& trace, std::string const& path);

/// What the kernels of a group achieved; nothing if it launched none. `read` has looked at stacks.
std::optional<roofline_row> roofline_of(source_group const& group, roofline_reading const& read,
                                        roofline const& roofs);

}  // namespace gpuprof::host::command
