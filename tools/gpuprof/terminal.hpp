// SPDX-License-Identifier: Apache-2.0
// The terminal on which a report is read, if there is one.
#pragma once

#include "text/page.hpp"

#include <cstdio>
#include <string_view>

namespace gpuprof::host::command {

bool is_terminal(std::FILE* out) noexcept;

/// Returns the width of the terminal, with bold headings unless NO_COLOR is set. There are no
/// limits if `out` is a file or a pipe, or if `wide`.
text::page page_of(std::FILE* out, bool wide) noexcept;

/// Prints a line of prose, wrapped if the terminal is narrow.
void put_line(std::FILE* out, std::string_view text);

inline constexpr char const* wide_help =
    "Whole names and all columns, however narrow the terminal is";

}  // namespace gpuprof::host::command
