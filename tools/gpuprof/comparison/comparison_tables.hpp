// SPDX-License-Identifier: Apache-2.0
// Shows the lines of a comparison as tables for readers and for programs.
#pragma once

#include "host/compare/comparison.hpp"
#include "text/table.hpp"

#include <span>
#include <string>

namespace gpuprof::host::command {

/// For readers: lines of some kinds, without columns that are empty. The comparison must outlive
/// the table.
text::table table_to_read(compare::comparison const& of,
                          std::span<compare::difference const* const> lines);

/// For programs: all lines in one table, shares as parts of 1.
text::table table_of_all(compare::comparison const& of);

/// Returns the verdict on a line: "worse", "undecided", "new", ....
std::string verdict_text(compare::difference const& line);

}  // namespace gpuprof::host::command
