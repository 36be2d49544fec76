// SPDX-License-Identifier: Apache-2.0
// Describes each table and column of a capture: for the schema in every file, and for
// docs/capture-format.md, which is generated from it.
#pragma once

#include <string_view>

namespace gpuprof::capture {

struct column_note {
  std::string_view table;  // empty: all tables without a note of their own
  std::string_view column;
  std::string_view unit;       // empty: a number, an id or a text
  std::string_view refers_to;  // "table.column" that holds the value; empty: none
  std::string_view meaning;    // also the meaning of 0 or an empty text if that is not clear
};

struct table_note {
  std::string_view table;
  std::string_view meaning;
  std::string_view order;  // order of the rows, and which row counts if there are several
};

/// Returns null for tables and columns that are not in tables.hpp. A test checks that all others
/// have a note.
column_note const* note_of(std::string_view table, std::string_view column) noexcept;
table_note const* note_of(std::string_view table) noexcept;

}  // namespace gpuprof::capture
