// SPDX-License-Identifier: Apache-2.0
// The terminal that somebody reads a report on, if there is one.
#pragma once

#include "text/page.hpp"

#include <cstdio>
#include <string_view>

namespace gpuprof::host::command {

bool is_terminal(std::FILE* out) noexcept;

/// As wide as the terminal, with bold headings unless NO_COLOR is set; without limits where `out`
/// is a file or a pipe, or `wide`.
text::page page_of(std::FILE* out, bool wide) noexcept;

/// A line of prose, in several where the terminal is narrow.
void put_line(std::FILE* out, std::string_view text);

inline constexpr char const* wide_help =
    "Whole names and all columns, however narrow the terminal is";

}  // namespace gpuprof::host::command
