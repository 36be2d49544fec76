// The CSV format: RFC 4180, one header line.
#include "report/table.hpp"

namespace gpuprof::report {
namespace {

void append_field(std::string& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
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

  std::string field;
  table.each_row([&](row const& cells) {
    line.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += ',';
      field.clear();
      append_cell(field, cells[i], table.columns[i].kind, unit);
      append_field(line, field);
    }
    line += '\n';
    out(line);
  });
}

}  // namespace gpuprof::report
