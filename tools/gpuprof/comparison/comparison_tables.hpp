// SPDX-License-Identifier: Apache-2.0
// The lines of a comparison as tables: for reading, and for programs.
#pragma once

#include "host/compare/comparison.hpp"
#include "text/table.hpp"

#include <span>
#include <string>

namespace gpuprof::host::command {

/// For reading, of lines of some kinds; what no line fills is left out. The comparison outlives it.
text::table table_to_read(compare::comparison const& of,
                          std::span<compare::difference const* const> lines);

/// For programs: all lines in one table, shares as parts of 1.
text::table table_of_all(compare::comparison const& of);

/// "worse", "undecided", "new", ...: what is said of a line.
std::string verdict_text(compare::difference const& line);

}  // namespace gpuprof::host::command
