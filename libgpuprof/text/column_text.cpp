// SPDX-License-Identifier: Apache-2.0
// The column format, for reading on a terminal.
#include "text/padding.hpp"
#include "text/table.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuprof::text {
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
constexpr std::size_t least_name = 24;  // characters of a text that remain on a narrow page

struct shown_column {
  std::size_t index = 0;
  std::string header;
  std::size_t width = 0;
  bool is_number = false;
  int leave_out = 0;
  bool may_shrink = false;
  bool is_shrunk = false;
  text_map short_texts;

  std::size_t least_width() const {
    return may_shrink ? std::min(width, std::max(least_name, width_of(header))) : width;
  }
  std::string text(cell const& value, column_kind kind, time_unit unit) const {
    auto text = shown(value, kind, unit);
    auto const found = short_texts.find(text);
    return found != short_texts.end() ? found->second : text;
  }
};

std::vector<shown_column> whole_columns(table const& table, time_unit unit) {
  std::vector<shown_column> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    auto const& of = table.columns[i];
    auto header = header_of(of, unit);
    auto const width = width_of(header);
    columns.push_back(
        {i, std::move(header), width, is_number(of.kind), of.leave_out, false, false, {}});
  }
  if (!columns.empty() && columns.front().leave_out != never_left_out)
    columns.front().leave_out = 0;
  for (auto& column : columns)
    column.may_shrink =
        !column.is_number && (column.leave_out == never_left_out ||
                              (&column == &columns.back() && column.leave_out == 0));
  table.each_row([&](row const& cells) {
    for (auto& column : columns)
      column.width =
          std::max(column.width,
                   width_of(shown(cells[column.index], table.columns[column.index].kind, unit)));
  });
  return columns;
}

template <class Width>
std::size_t width_of_line(std::vector<shown_column> const& columns, Width width_of_column) {
  std::size_t width = 1;
  for (auto const& column : columns) width += width_of_column(column) + between_columns;
  return width - between_columns;
}

/// Returns the next column to leave out, or the end if all others stay.
std::vector<shown_column>::iterator next_to_go(std::vector<shown_column>& columns) {
  auto found = columns.end();
  for (auto at = columns.begin() + 1; at < columns.end(); ++at)
    if (at->leave_out > 0 && (found == columns.end() || at->leave_out < found->leave_out))
      found = at;
  for (auto at = columns.end() - 1; found == columns.end() && at > columns.begin() + 1;)
    if ((--at)->leave_out == 0) found = at;
  return found;
}

/// Shrinks the widest column first, so that none loses more than necessary.
void shrink(std::vector<shown_column>& columns, std::size_t too_much) {
  for (; too_much > 0; --too_much) {
    shown_column* widest = nullptr;
    for (auto& column : columns)
      if (column.width > column.least_width() &&
          (widest == nullptr || column.width > widest->width))
        widest = &column;
    if (widest == nullptr) return;
    --widest->width;
    widest->is_shrunk = true;
  }
}

/// Leaves out columns that do not fit, in the table's order. Returns their names.
std::vector<std::string> fit(std::vector<shown_column>& columns, std::size_t width) {
  std::vector<std::string> left_out;
  if (width == 0 || columns.empty()) return left_out;
  auto const least = [](shown_column const& column) { return column.least_width(); };
  while (width_of_line(columns, least) > width) {
    auto const gone = next_to_go(columns);
    if (gone == columns.end()) break;
    left_out.push_back(gone->header);
    columns.erase(gone);
  }
  auto const whole = width_of_line(columns, [](shown_column const& c) { return c.width; });
  shrink(columns, whole - std::min(whole, width));
  return left_out;
}

/// Names repeat, so each text is shortened once and not for each row.
void shorten_texts(std::vector<shown_column>& columns, table const& table, time_unit unit) {
  auto const is_shrunk = [](shown_column const& column) { return column.is_shrunk; };
  if (std::none_of(columns.begin(), columns.end(), is_shrunk)) return;
  std::vector<text_set> long_texts(columns.size());
  table.each_row([&](row const& cells) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].is_shrunk) continue;
      auto text = shown(cells[columns[i].index], column_kind::text, unit);
      if (width_of(text) > columns[i].width) long_texts[i].insert(std::move(text));
    }
  });
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].short_texts = shortened_apart(long_texts[i], columns[i].width);
}

constexpr std::size_t longest_rule = 80;

void end_line(std::string& line, text_sink const& out) {
  while (line.ends_with(' ')) line.pop_back();
  line += '\n';
  out(line);
  line.clear();
}

}  // namespace

void write_columns(table const& table, time_unit unit, text_sink const& out, page const& on) {
  auto columns = whole_columns(table, unit);
  auto const left_out = fit(columns, on.width);
  shorten_texts(columns, table, unit);
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
    // A line of as many dashes as the longest name has letters wraps in each viewer.
    auto const is_last_text = &column == &columns.back() && !column.is_number;
    line.append(is_last_text ? std::min(column.width, longest_rule) : column.width, '-');
  }
  end_line(line, out);
  table.each_row([&](row const& cells) {
    for (auto const& column : columns) {
      begin_cell(column);
      auto const text = column.text(cells[column.index], table.columns[column.index].kind, unit);
      append_padded(line, text, column.width, column.is_number);
    }
    end_line(line, out);
  });
  if (left_out.empty()) return;
  line = " no room for";
  for (auto const& name : left_out) line += (&name == left_out.data() ? " " : ", ") + name;
  out(wrapped(line + "; --wide shows all", on.width, 4) + "\n");
}

}  // namespace gpuprof::text
