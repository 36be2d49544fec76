// SPDX-License-Identifier: Apache-2.0
// The line of the program, its function and its module for the bars of a timeline.
#pragma once

#include "host/page/bar_places.hpp"
#include "host/reading/trace_contents.hpp"

namespace gpuprof::host::command {

/// Reads the Python stacks of GPU work and calls, if the capture has any.
void add_places(page::bar_places& to, trace_contents& trace);

}  // namespace gpuprof::host::command
