// SPDX-License-Identifier: Apache-2.0
// Titled lines under headers, with a bar in them and remarks between and below them.
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
  std::vector<std::string> cells;  // as many as columns, that of the bar empty; or none
  std::optional<double> bar;       // 1: full
  std::string instead;             // what there is to say when there are no cells
};

struct grid {
  std::string title;  // above the titles of the lines
  std::vector<grid_column> columns;
  std::vector<grid_line> lines;
  std::vector<std::string> notes;  // below
};

/// Leaves out columns that are empty in every line. The bar takes the width that is left, within
/// limits.
void write_grid(grid const& what, std::size_t width, bool blocks, text::text_sink const& out);

/// Words in lines of at most this width; all lines begin with `indent` blanks.
void write_wrapped(std::string_view text, std::size_t indent, std::size_t width,
                   text::text_sink const& out);

}  // namespace gpuprof::host::report
