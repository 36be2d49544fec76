// The column format: what a person reads on a terminal.
#include "report/padding.hpp"
#include "report/table.hpp"

#include <algorithm>

namespace gpuprof::report {
namespace {

/// 1234567.8 becomes 1,234,567.8.
void add_thousands_separators(std::string& number) {
  auto const first = number.starts_with('-') ? 1u : 0u;
  auto const point = std::min(number.find('.'), number.size());
  for (auto at = point; at > first + 3;) {
    at -= 3;
    number.insert(at, 1, ',');
  }
}

std::string shown(cell const& value, column_kind kind, time_unit unit) {
  std::string text;
  append_cell(text, value, kind, unit);
  if (is_number(kind) && !std::holds_alternative<std::string_view>(value))
    add_thousands_separators(text);
  return on_one_line(text);
}

void append_centred(std::string& line, std::string_view text, std::size_t width) {
  auto const blanks = width - std::min(width, width_of(text));
  line.append(blanks / 2, ' ');
  line += text;
  line.append(blanks - blanks / 2, ' ');
}

void end_line(std::string& line, text_sink const& out) {
  while (line.ends_with(' ')) line.pop_back();
  line += '\n';
  out(line);
  line.clear();
}

}  // namespace

void write_columns(table const& table, time_unit unit, text_sink const& out) {
  auto const& columns = table.columns;
  std::vector<std::string> headers;
  std::vector<std::size_t> widths;
  for (auto const& column : columns) {
    headers.push_back(header_of(column, unit));
    widths.push_back(width_of(headers.back()));
  }
  table.each_row([&](row const& cells) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      widths[i] = std::max(widths[i], width_of(shown(cells[i], columns[i].kind, unit)));
  });

  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    line += i == 0 ? " " : "  ";
    append_centred(line, headers[i], widths[i]);
  }
  end_line(line, out);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    line += i == 0 ? " " : "  ";
    line.append(widths[i], '-');
  }
  end_line(line, out);
  table.each_row([&](row const& cells) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      line += i == 0 ? " " : "  ";
      append_padded(line, shown(cells[i], columns[i].kind, unit), widths[i],
                    is_number(columns[i].kind));
    }
    end_line(line, out);
  });
}

}  // namespace gpuprof::report
