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

constexpr std::size_t between_columns = 2;
constexpr std::size_t least_name = 24;  // characters of the last column that a narrow page leaves

struct shown_column {
  std::size_t index = 0;
  std::string header;
  std::size_t width = 0;
  bool is_number = false;
};

std::vector<shown_column> whole_columns(table const& table, time_unit unit) {
  std::vector<shown_column> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    auto header = header_of(table.columns[i], unit);
    auto const width = width_of(header);
    columns.push_back({i, std::move(header), width, is_number(table.columns[i].kind)});
  }
  table.each_row([&](row const& cells) {
    for (auto& column : columns)
      column.width =
          std::max(column.width,
                   width_of(shown(cells[column.index], table.columns[column.index].kind, unit)));
  });
  return columns;
}

std::size_t width_of_line(std::vector<shown_column> const& columns) {
  std::size_t width = 1;
  for (auto const& column : columns) width += column.width + between_columns;
  return width - between_columns;
}

/// Leaves out what does not fit, in the order that the table gives. Returns the names.
std::vector<std::string> fit(std::vector<shown_column>& columns, table const& table,
                             std::size_t width) {
  std::vector<std::string> left_out;
  if (width == 0 || columns.empty()) return left_out;
  auto const shortest = [&] {
    auto const& last = columns.back();
    auto const spare = last.is_number ? 0 : last.width - std::min(last.width, least_name);
    return width_of_line(columns) - spare;
  };
  auto const next_to_go = [&] {
    auto const order = [&](shown_column const& c) { return table.columns[c.index].leave_out; };
    auto found = columns.end();
    for (auto at = columns.begin() + 1; at != columns.end() - 1; ++at)
      if (order(*at) != 0 && (found == columns.end() || order(*at) < order(*found))) found = at;
    return found != columns.end() ? found : columns.end() - 2;
  };
  while (shortest() > width && columns.size() > 2) {
    auto const gone = next_to_go();
    left_out.push_back(gone->header);
    columns.erase(gone);
  }
  auto const too_much = width_of_line(columns) - std::min(width_of_line(columns), width);
  auto& last = columns.back();
  if (!last.is_number)
    last.width -= std::min(too_much, last.width - std::min(last.width, least_name));
  return left_out;
}

void end_line(std::string& line, text_sink const& out) {
  while (line.ends_with(' ')) line.pop_back();
  line += '\n';
  out(line);
  line.clear();
}

}  // namespace

void write_columns(table const& table, time_unit unit, text_sink const& out, page const& on) {
  auto columns = whole_columns(table, unit);
  auto const left_out = fit(columns, table, on.width);
  std::string line;
  auto const begin_cell = [&](shown_column const& column) {
    line.append(&column == columns.data() ? 1 : between_columns, ' ');
  };
  for (auto const& column : columns) {
    begin_cell(column);
    append_padded(line, column.header, column.width, column.is_number);
  }
  while (line.ends_with(' ')) line.pop_back();
  out(on.bold_headings ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n");
  line.clear();
  for (auto const& column : columns) {
    begin_cell(column);
    line.append(column.width, '-');
  }
  end_line(line, out);
  table.each_row([&](row const& cells) {
    for (auto const& column : columns) {
      begin_cell(column);
      auto const text = shown(cells[column.index], table.columns[column.index].kind, unit);
      append_padded(line, shortened(text, column.width), column.width, column.is_number);
    }
    end_line(line, out);
  });
  if (left_out.empty()) return;
  line = " no room for";
  for (auto const& name : left_out) line += (&name == left_out.data() ? " " : ", ") + name;
  out(wrapped(line + "; --wide shows all", on.width, 4) + "\n");
}

}  // namespace gpuprof::report
