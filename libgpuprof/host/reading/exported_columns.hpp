// SPDX-License-Identifier: Apache-2.0
// Which columns a table of a capture has where it leaves gpuprof as it is: names stand in place of
// their numbers, and the name of a kernel beside its shape.
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
  std::string_view meaning;  // as docs/capture-format.md says it
  capture::column_layout const* source = nullptr;
  std::size_t place = 0;  // of the source in its table
  content holds = content::number;
};

/// False for tables that describe the file, which no export has.
bool is_exported(capture::table_layout const& table) noexcept;

/// In the order of the table.
std::vector<exported_column> exported_columns(capture::table_layout const& table);

}  // namespace gpuprof::host
