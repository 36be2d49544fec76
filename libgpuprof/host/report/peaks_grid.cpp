// SPDX-License-Identifier: Apache-2.0
#include "host/report/peaks_grid.hpp"

#include "text/padding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpuprof::host::report {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t grid_share_width = 5;  // "| 97%"
constexpr std::size_t least_bar = 8, greatest_bar = 27;

/// Draws at most `width` characters, in steps of an eighth of a block.
std::string bar_of(double share, std::size_t width, bool blocks) {
  static constexpr char const* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  auto const full = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  std::string bar;
  if (!blocks) return bar.append(static_cast<std::size_t>(std::lround(full)), '#');
  auto const steps = static_cast<std::size_t>(std::lround(full * 8));
  for (std::size_t i = 0; i < steps / 8; ++i) bar += "█";
  return bar += eighths[steps % 8];
}

std::string bar_cell(std::optional<double> share, std::size_t width, bool blocks) {
  if (!share || !std::isfinite(*share)) return {};
  std::string text;
  text::append_padded(text, bar_of(*share, width - grid_share_width, blocks),
                      width - grid_share_width, false);
  char percent[16];
  std::snprintf(percent, sizeof percent, "|%3.0f%%", *share * 100);
  return text + percent;
}

bool is_used(grid const& what, std::size_t column) {
  return std::any_of(what.lines.begin(), what.lines.end(), [&](grid_line const& line) {
    if (what.columns[column].kind == grid_column_kind::bar) return line.bar.has_value();
    return !line.cells.empty() && !line.cells[column].empty();
  });
}

struct measured_widths {
  std::size_t title = 0;
  std::vector<std::size_t> columns;  // 0: left out
};

measured_widths widths_of(grid const& what, std::size_t width) {
  measured_widths widths{text::width_of(what.title), {}};
  for (auto const& line : what.lines)
    widths.title = std::max(widths.title, text::width_of(line.title));
  auto taken = widths.title;
  std::optional<std::size_t> bar;
  for (std::size_t c = 0; c < what.columns.size(); ++c) {
    auto& columns_width = widths.columns.emplace_back(0);
    if (!is_used(what, c)) continue;
    columns_width = text::width_of(what.columns[c].header);
    for (auto const& line : what.lines)
      if (!line.cells.empty())
        columns_width = std::max(columns_width, text::width_of(line.cells[c]));
    taken += gap;
    if (what.columns[c].kind == grid_column_kind::bar)
      bar = c;
    else
      taken += columns_width;
  }
  if (bar)
    widths.columns[*bar] = std::clamp(width - std::min(width, taken), least_bar, greatest_bar);
  return widths;
}

void end_line(std::string& line, text::text_sink const& out) {
  while (line.ends_with(' ')) line.pop_back();
  line += '\n';
  out(line);
  line.clear();
}

}  // namespace

void write_wrapped(std::string_view text, std::size_t indent, std::size_t width,
                   text::text_sink const& out) {
  std::string line(indent, ' ');
  auto is_empty = true;
  while (!text.empty()) {
    auto const end = std::min(text.find(' '), text.size());
    auto const word = text.substr(0, end);
    if (!is_empty && text::width_of(line) + 1 + text::width_of(word) > width) {
      end_line(line, out);
      line.assign(indent, ' ');
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  end_line(line, out);
}

void write_grid(grid const& what, std::size_t width, bool blocks, text::text_sink const& out) {
  auto const widths = widths_of(what, width);
  std::string line;
  auto const append_cells = [&](auto const& text_of) {
    for (std::size_t c = 0; c < what.columns.size(); ++c) {
      if (widths.columns[c] == 0) continue;
      line.append(gap, ' ');
      text::append_padded(line, text_of(c), widths.columns[c],
                          what.columns[c].kind == grid_column_kind::to_the_right);
    }
    end_line(line, out);
  };

  text::append_padded(line, what.title, widths.title, false);
  append_cells([&](std::size_t c) { return what.columns[c].header; });
  line.append(widths.title, '-');
  append_cells([&](std::size_t c) { return std::string(widths.columns[c], '-'); });
  for (auto const& entry : what.lines) {
    if (entry.cells.empty()) {
      std::string text;
      write_wrapped(entry.instead, widths.title + gap, width,
                    [&](std::string_view piece) { text += piece; });
      text::append_padded(line, entry.title, widths.title, false);
      out(line + text.substr(widths.title));  // the title replaces the indent
      line.clear();
      continue;
    }
    text::append_padded(line, entry.title, widths.title, false);
    append_cells([&](std::size_t c) {
      return what.columns[c].kind == grid_column_kind::bar
                 ? bar_cell(entry.bar, widths.columns[c], blocks)
                 : entry.cells[c];
    });
  }
  for (auto const& note : what.notes) write_wrapped(note, gap, width, out);
}

}  // namespace gpuprof::host::report
