// SPDX-License-Identifier: Apache-2.0
// Defines the columns of a table when it is exported from gpuprof: texts instead of name numbers,
// and the kernel name in addition to its shape.
#pragma once

#include "capture/layout.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace gpuprof::host {

struct exported_column {
  enum class content { number, text_of_name, kernel_of_shape };
  std::string_view name;
  std::string_view unit;     // empty: a number, an id or a text
  std::string_view meaning;  // as in docs/capture-format.md
  capture::column_layout const* source = nullptr;
  std::size_t place = 0;  // index of `source` in its table
  content holds = content::number;
};

/// Returns false for tables that describe the file itself; they are never exported.
bool is_exported(capture::table_layout const& table) noexcept;

/// Returns the columns in the order of the table.
std::vector<exported_column> exported_columns(capture::table_layout const& table);

}  // namespace gpuprof::host
