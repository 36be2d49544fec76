// SPDX-License-Identifier: Apache-2.0
// Writes titled lines under headers, with a bar in each line, and remarks between and below them.
#pragma once

#include "text/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::report {

enum class grid_column_kind { to_the_left, to_the_right, bar };

struct grid_column {
  std::string header;
  grid_column_kind kind = grid_column_kind::to_the_right;
};

struct grid_line {
  std::string title;
  std::vector<std::string> cells;  // one per column, empty for the bar; or none at all
  std::optional<double> bar;       // 1: full bar
  std::string instead;             // text shown if there are no cells
};

struct grid {
  std::string title;  // heading above the line titles
  std::vector<grid_column> columns;
  std::vector<grid_line> lines;
  std::vector<std::string> notes;  // shown below the lines
};

/// Leaves out columns that are empty in every line. The bar takes the remaining width, within
/// limits.
void write_grid(grid const& what, std::size_t width, bool blocks, text::text_sink const& out);

/// Wraps text to lines of at most `width` characters, all with `indent` blanks in front.
void write_wrapped(std::string_view text, std::size_t indent, std::size_t width,
                   text::text_sink const& out);

}  // namespace gpuprof::host::report
