// SPDX-License-Identifier: Apache-2.0
// Python stacks for a page: flame graphs of lines and of modules, and the source of the lines.
#pragma once

#include "host/reading/trace_contents.hpp"

#include <string>

namespace gpuprof::host::command {

/// Returns {"lines": [place...], "modules": [place...], "source": {file: {line: text}}, "notes":
/// [text...]}, or {} if the capture has no stacks. A place is {"name", "parent", "kind", "file",
/// "line", "is_own", "instances": launches, and for each of gpu_ns, cpu_ns, idle_ns and wait_ns its
/// time, and as "own_..." its time without the places inside of it}; parents come first. Only lines
/// have "file", "line" and "is_own". Places with less than 0.02 % of each of these times count for
/// their parent.
std::string stack_document(trace_contents& trace);

}  // namespace gpuprof::host::command
