// SPDX-License-Identifier: Apache-2.0
// The critical path of a median and of the slowest steps, as a table and as JSON.
#pragma once

#include "host/replay/step_paths.hpp"
#include "text/table.hpp"

#include <string>
#include <string_view>

namespace gpuprof::host::report {

/// Without steps, the table has no rows.
text::table critical_path_table(replay::step_paths const& of);

/// Writes the object {"kernels_ns": ..., "copies_ns": ...}, in nanoseconds of a step.
void append_path_json(std::string& out, replay::critical_path const& path);
/// Writes {"step", "steps", "median": {...}, "slowest": {...}} for steps of this name. Without
/// steps, writes null.
void append_paths_json(std::string& out, std::string_view step, replay::step_paths const& of);

}  // namespace gpuprof::host::report
