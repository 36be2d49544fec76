// The CSV format: RFC 4180, one header line.
#include "report/table.hpp"

#include <algorithm>

namespace gpuprof::report {
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

}  // namespace

void write_csv(table const& table, time_unit unit, text_sink const& out) {
  std::string line;
  for (auto const& column : table.columns) {
    if (!line.empty()) line += ',';
    append_field(line, header_of(column, unit));
  }
  line += '\n';
  out(line);

  table.each_row([&](row const& cells) {
    line.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += ',';
      if (auto const* const text = std::get_if<std::string_view>(&cells[i]))
        append_field(line, *text);
      else
        append_cell(line, cells[i], table.columns[i].kind, unit);  // numbers need no quotes
    }
    line += '\n';
    out(line);
  });
}

}  // namespace gpuprof::report
