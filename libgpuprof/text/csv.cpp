// SPDX-License-Identifier: Apache-2.0
// The CSV format (RFC 4180, one header line) and the TSV format.
#include "text/table.hpp"

#include <algorithm>

namespace gpuprof::text {
namespace {

void append_field(std::string& line, std::string_view text) {
  auto const needs_quotes = std::any_of(text.begin(), text.end(), [](char c) {
    return c == ',' || c == '"' || c == '\r' || c == '\n';
  });
  if (!needs_quotes) {
    line += text;
    return;
  }
  line += '"';
  for (char const c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

/// TSV has no quotes, so tabs and line ends in a text become blanks.
void append_tsv_field(std::string& line, std::string_view text) {
  for (char const c : text) line += c == '\t' || c == '\r' || c == '\n' ? ' ' : c;
}

void write_separated(table const& table, time_unit unit, text_sink const& out, char separator,
                     void (*append)(std::string&, std::string_view)) {
  std::string line;
  for (auto const& column : table.columns) {
    if (!line.empty()) line += separator;
    append(line, header_of(column, unit));
  }
  line += '\n';
  out(line);

  table.each_row([&](row const& cells) {
    line.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += separator;
      if (auto const* const text = std::get_if<std::string_view>(&cells[i]))
        append(line, *text);
      else
        append_cell(line, cells[i], table.columns[i].kind, unit);  // numbers need no quotes
    }
    line += '\n';
    out(line);
  });
}

}  // namespace

void write_csv(table const& table, time_unit unit, text_sink const& out) {
  write_separated(table, unit, out, ',', append_field);
}

void write_tsv(table const& table, time_unit unit, text_sink const& out) {
  write_separated(table, unit, out, '\t', append_tsv_field);
}

}  // namespace gpuprof::text
