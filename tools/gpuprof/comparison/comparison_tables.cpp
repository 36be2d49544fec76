// SPDX-License-Identifier: Apache-2.0
#include "comparison/comparison_tables.hpp"

#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace gpuprof::host::command {
namespace {

using compare::comparison;
using compare::difference;
using text::cell;
using text::column_kind;

struct shown_column {
  text::column of;
  std::function<cell(difference const&, std::deque<std::string>& texts)> value;
};

using optional_number = std::optional<double>;

/// Returns half of the confidence interval, if there is one: the error of the remaining change.
optional_number noise_of(difference const& line) {
  auto const& decides = line.deciding();
  if (line.is == compare::verdict::not_tested) return std::nullopt;
  if (line.base && line.base->window_share) return decides.half_width();
  // As far as the interval reaches from the estimate towards no change: a change beyond it is one.
  return decides.estimate < 0 ? -std::expm1(-decides.half_width())
                              : std::expm1(decides.half_width());
}

optional_number change_of(difference const& line) {
  if (line.base && line.fresh && line.base->window_share)
    return *line.fresh->window_share - *line.base->window_share;
  return line.change;
}

optional_number cost_of(difference const& line) {
  return line.kind == compare::line_kind::finding ? std::nullopt : optional_number(line.cost_ns);
}

std::string geometry_of(difference const& line) {
  if (line.grid.x == 0) return {};
  auto const text = [](extent3 const& of) {
    return std::to_string(of.x) + "," + std::to_string(of.y) + "," + std::to_string(of.z);
  };
  return text(line.grid) + " x " + text(line.block);
}

std::string shown_name(difference const& line) {
  auto const how = std::string(name_of(line.how));
  if (!line.base_name.empty()) return how + ": " + line.base_name + " -> " + line.name;
  auto const geometry = geometry_of(line);
  return line.name + (geometry.empty() ? "" : " <" + geometry + ">");
}

cell number(optional_number value, double scale = 1) {
  return value ? cell(*value * scale) : cell();
}

/// Buckets have a time and no calls, findings have neither.
optional_number of(std::optional<compare::amount> const& side, double compare::amount::*figure) {
  if (!side || (side->window_share && (*side).*figure == 0)) return std::nullopt;
  return (*side).*figure;
}
optional_number of(std::optional<compare::amount> const& side,
                   optional_number compare::amount::*figure) {
  return side ? (*side).*figure : std::nullopt;
}

using figure = std::function<optional_number(difference const&)>;

shown_column numbers(std::string name, column_kind kind, figure const& value, int leave_out = 0,
                     double scale = 1) {
  return {{std::move(name), kind, leave_out},
          [value, scale](difference const& line, auto&) { return number(value(line), scale); }};
}

shown_column words(std::string name, std::function<std::string(difference const&)> const& text,
                   int leave_out = 0) {
  return {{std::move(name), column_kind::text, leave_out},
          [text](difference const& line, std::deque<std::string>& texts) -> cell {
            auto found = text(line);
            if (found.empty()) return {};
            texts.push_back(std::move(found));
            return std::string_view(texts.back());
          }};
}

template <class Member>
figure side_figure(std::optional<compare::amount> difference::*side, Member member) {
  return [=](difference const& line) { return of(line.*side, member); };
}

template <class Member>
figure line_figure(Member difference::*member) {
  return [=](difference const& line) { return optional_number(line.*member); };
}

std::vector<shown_column> columns_to_read(comparison const& about) {
  using compare::amount;
  constexpr double percent = 100;
  auto const each = about.step.empty() ? std::string("Run") : std::string("Step");
  auto const base = &difference::base, fresh = &difference::fresh;
  return {
      numbers("Cost/" + each, column_kind::time, cost_of),
      numbers("Change", column_kind::share, change_of, 0, percent),
      numbers("Noise", column_kind::share, noise_of, 0, percent),
      numbers("Clock", column_kind::share, line_figure(&difference::by_clock), 0, percent),
      numbers("Shared", column_kind::share, line_figure(&difference::shared), 3, percent),
      numbers("By roof", column_kind::share, line_figure(&difference::by_roof), 0, percent),
      words("Verdict", verdict_text),
      numbers("Base", column_kind::time, side_figure(base, &amount::call_ns), 4),
      numbers("New", column_kind::time, side_figure(fresh, &amount::call_ns), 4),
      numbers("Base calls", column_kind::decimal, side_figure(base, &amount::calls), 2),
      numbers("New calls", column_kind::decimal, side_figure(fresh, &amount::calls), 2),
      numbers("Base of roof", column_kind::share, side_figure(base, &amount::of_roof), 1, percent),
      numbers("New of roof", column_kind::share, side_figure(fresh, &amount::of_roof), 1, percent),
      numbers("Base share", column_kind::share, side_figure(base, &amount::window_share), 1,
              percent),
      numbers("New share", column_kind::share, side_figure(fresh, &amount::window_share), 1,
              percent),
      words("Name", shown_name, text::never_left_out)};
}

std::vector<shown_column> columns_of_all(comparison const& about) {
  using compare::amount;
  auto const each = about.step.empty() ? std::string("run") : std::string("step");
  auto const base = &difference::base, fresh = &difference::fresh;
  auto const numeric = [](std::string name, figure const& value) {
    return numbers(std::move(name), column_kind::number, value);
  };
  auto const bound = [](double compare::interval::*end) {
    return [end](difference const& line) -> optional_number {
      auto const& decides = line.deciding();
      if (!decides.is_known()) return std::nullopt;
      return line.base && line.base->window_share ? decides.*end : std::expm1(decides.*end);
    };
  };
  std::vector<shown_column> columns = {
      words("kind", [](difference const& line) { return std::string(name_of(line.kind)); }),
      words("name", [](difference const& line) { return line.name; }),
      words("geometry", geometry_of),
      words("match", [](difference const& line) { return std::string(name_of(line.how)); }),
      words("was", [](difference const& line) { return line.base_name; }),
      words("verdict", [](difference const& line) { return std::string(name_of(line.is)); }),
      numeric("cost_ns_per_" + each, line_figure(&difference::cost_ns)),
      numeric("change", change_of),
      numeric("left", bound(&compare::interval::estimate)),
      numeric("left_low", bound(&compare::interval::low)),
      numeric("left_high", bound(&compare::interval::high)),
      words("noise_from",
            [](difference const& line) {
              return line.deciding().is_known() ? std::string(name_of(line.deciding().from)) : "";
            }),
      numeric("by_clock", line_figure(&difference::by_clock)),
      numeric("shared", line_figure(&difference::shared)),
      numeric("by_roof", line_figure(&difference::by_roof))};
  auto const of_side = [&](std::string const& prefix, auto side) {
    columns.push_back(numeric(prefix + "_call_ns", side_figure(side, &amount::call_ns)));
    columns.push_back(numeric(prefix + "_calls_per_" + each, side_figure(side, &amount::calls)));
    columns.push_back(
        numeric(prefix + "_total_ns_per_" + each, side_figure(side, &amount::total_ns)));
    columns.push_back(numeric(prefix + "_of_roof", side_figure(side, &amount::of_roof)));
    columns.push_back(
        numeric(prefix + "_dram_bytes_per_second", side_figure(side, &amount::dram_rate)));
    columns.push_back(numeric(prefix + "_flops", side_figure(side, &amount::flops)));
    columns.push_back(numeric(prefix + "_window_share", side_figure(side, &amount::window_share)));
  };
  of_side("base", base);
  of_side("new", fresh);
  return columns;
}

text::table table_of(std::vector<shown_column> columns, std::vector<difference const*> lines) {
  text::table table;
  for (auto const& column : columns) table.columns.push_back(column.of);
  table.each_row = [columns = std::move(columns), lines = std::move(lines)](auto const& take) {
    std::deque<std::string> texts;
    text::row row;
    for (auto const* line : lines) {
      texts.clear();
      row.clear();
      for (auto const& column : columns) row.push_back(column.value(*line, texts));
      take(row);
    }
  };
  return table;
}

}  // namespace

std::string verdict_text(difference const& line) {
  if (line.how == compare::match_kind::gone || line.how == compare::match_kind::added)
    return std::string(name_of(line.how));
  return std::string(name_of(line.is));
}

text::table table_to_read(comparison const& of, std::span<difference const* const> lines) {
  auto columns = columns_to_read(of);
  std::erase_if(columns, [&](shown_column const& column) {
    std::deque<std::string> texts;
    for (auto const* line : lines)
      if (!std::holds_alternative<std::monostate>(column.value(*line, texts))) return false;
    return true;
  });
  return table_of(std::move(columns), {lines.begin(), lines.end()});
}

text::table table_of_all(comparison const& of) {
  std::vector<difference const*> lines;
  for (auto const& line : of.lines) lines.push_back(&line);
  return table_of(columns_of_all(of), std::move(lines));
}

}  // namespace gpuprof::host::command
