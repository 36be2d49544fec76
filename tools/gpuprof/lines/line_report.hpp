// SPDX-License-Identifier: Apache-2.0
// The tables of gpuprof lines, and of stats -r py_line_sum: GPU work by line of the program, or by
// module of PyTorch.
#pragma once

#include "filter_options.hpp"
#include "host/analysis/stack_times.hpp"
#include "host/reading/trace_contents.hpp"
#include "stats_output.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

struct line_options {
  stack_grouping grouping = stack_grouping::line;
  std::vector<std::string> own;  // folders of the program; empty: all but installed packages
  bool whole_stacks = false;     // the innermost frame counts, in whatever file it is
  bool each_module = false;      // modules whose paths differ in numbers have rows of their own
};

/// Reads the GPU work that passes `wanted`. `path`: of the capture, for messages.
finished_report line_report(trace_contents& trace, selection const& wanted, std::string const& path,
                            line_options const& options);

/// What the CPU did while a GPU had nothing to do: stats -r idle_cause_sum.
finished_report idle_cause_report(trace_contents& trace, selection const& wanted,
                                  std::string const& path);

}  // namespace gpuprof::host::command
