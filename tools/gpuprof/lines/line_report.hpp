// SPDX-License-Identifier: Apache-2.0
// The tables of gpuprof lines, and of stats -r py_line_sum: GPU work by line of the program, or by
// module of PyTorch.
#pragma once

#include "filter_options.hpp"
#include "host/reading/trace_contents.hpp"
#include "lines/source_groups.hpp"
#include "stats_output.hpp"

#include <string>

namespace gpuprof::host::command {

/// Reads the GPU work that passes `wanted`. `path`: of the capture, for messages.
finished_report line_report(trace_contents& trace, selection const& wanted, std::string const& path,
                            line_options const& options);

/// PyTorch's operators and autograd nodes: stats -r torch_op_sum; `by_line`: a row for each line of
/// the program that calls one.
finished_report operator_report(trace_contents& trace, selection const& wanted,
                                std::string const& path, bool by_line);

/// What the CPU did while a GPU had nothing to do: stats -r idle_cause_sum.
finished_report idle_cause_report(trace_contents& trace, selection const& wanted,
                                  std::string const& path);

}  // namespace gpuprof::host::command
