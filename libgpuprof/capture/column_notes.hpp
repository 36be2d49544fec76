// SPDX-License-Identifier: Apache-2.0
// What each table and column of a capture means: for the schema in every file, and for
// docs/capture-format.md, which is made from it.
#pragma once

#include <string_view>

namespace gpuprof::capture {

struct column_note {
  std::string_view table;  // empty: in all tables that have no note of their own
  std::string_view column;
  std::string_view unit;       // empty: a number, an id or a text
  std::string_view refers_to;  // "table.column" whose value it is; empty: stands for itself
  std::string_view meaning;    // and what 0 or an empty text says, where that is not plain
};

struct table_note {
  std::string_view table;
  std::string_view meaning;
  std::string_view order;  // of its rows, and which of several rows holds
};

/// Null for what is not in tables.hpp; a test asks for all that is.
column_note const* note_of(std::string_view table, std::string_view column) noexcept;
table_note const* note_of(std::string_view table) noexcept;

}  // namespace gpuprof::capture
