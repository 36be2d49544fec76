// SPDX-License-Identifier: Apache-2.0
#include "comparison/markdown.hpp"

namespace gpuprof {
namespace {

/// More than anyone reads in a table; names of templates have thousands of characters.
constexpr std::size_t longest_text = 120;

std::string cell_text(report::cell const& value, report::column_kind kind, report::time_unit unit) {
  std::string text;
  report::append_cell(text, value, kind, unit);
  if (text.size() > longest_text) {
    auto end = longest_text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  return markdown_text(text);
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string safe;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      safe += ' ';
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("|*_`[]\\~#@!").find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

void write_markdown(report::table const& table, report::time_unit unit,
                    report::text_sink const& out) {
  std::string header = "|", line = "|";
  for (auto const& column : table.columns) {
    header += " " + markdown_text(report::header_of(column, unit)) + " |";
    line += report::is_number(column.kind) ? " ---: |" : " --- |";
  }
  out(header + "\n" + line + "\n");
  table.each_row([&](report::row const& row) {
    std::string text = "|";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += " " + cell_text(row[i], table.columns[i].kind, unit) + " |";
    out(text + "\n");
  });
}

}  // namespace gpuprof
