// SPDX-License-Identifier: Apache-2.0
// The JSON format: an array of objects that every parser takes.
#include "base/utf8.hpp"
#include "text/table.hpp"

namespace gpuprof::text {
namespace {

void append_value(std::string& out, cell const& value, column_kind kind, time_unit unit) {
  if (auto const* const text = std::get_if<std::string_view>(&value))
    return append_json_text(out, *text);
  auto const before = out.size();
  append_cell(out, value, kind, unit);
  if (out.size() == before) out += "null";
}

}  // namespace

void write_json(table const& table, time_unit unit, text_sink const& out) {
  std::vector<std::string> keys;
  for (auto const& column : table.columns) {
    append_json_text(keys.emplace_back(), header_of(column, unit));
  }
  std::string text = "[";
  bool first = true;
  table.each_row([&](row const& cells) {
    text += first ? "\n  {" : ",\n  {";
    first = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += ", ";
      text += keys[i];
      text += ": ";
      append_value(text, cells[i], table.columns[i].kind, unit);
    }
    text += '}';
    out(text);
    text.clear();
  });
  text += first ? "]\n" : "\n]\n";
  out(text);
}

}  // namespace gpuprof::text
