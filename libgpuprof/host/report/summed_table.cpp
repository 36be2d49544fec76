// SPDX-License-Identifier: Apache-2.0
#include "host/report/summed_table.hpp"

#include "host/report/owned_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace gpuprof::host::report {
namespace {

enum class role { key, share, sum, average, minimum, maximum, deviation, nothing };

constexpr std::array<std::string_view, 3> totals = {"Total Time", "Total", "Total Proj Time"};
constexpr std::array<std::string_view, 5> counts = {"Instances", "Count", "Num Calls", "Kern Inst",
                                                    "Range Instances"};
constexpr std::array<std::string_view, 3> other_sums = {"NVTX Inst", "Total Range Time",
                                                        "Total GPU Ops"};

bool contains(auto const& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "Avg" or "Proj Avg".
bool is_figure(std::string_view name, std::string_view figure) {
  return name == figure || (name.starts_with("Proj ") && name.substr(5) == figure);
}

role role_of(text::column const& column) {
  if (column.kind == text::column_kind::text) return role::key;
  if (column.kind == text::column_kind::share && column.name == "Time") return role::share;
  if (contains(totals, column.name) || contains(counts, column.name) ||
      contains(other_sums, column.name))
    return role::sum;
  if (is_figure(column.name, "Avg")) return role::average;
  if (is_figure(column.name, "Min")) return role::minimum;
  if (is_figure(column.name, "Max")) return role::maximum;
  if (is_figure(column.name, "StdDev")) return role::deviation;
  return role::nothing;
}

std::optional<std::size_t> find_any(std::vector<text::column> const& columns, auto const& names) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (contains(names, columns[i].name)) return i;
  return std::nullopt;
}

std::int64_t whole_of(text::cell const& value) {
  auto const* const number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? *number : 0;
}

double number_of(text::cell const& value) {
  if (auto const* const number = std::get_if<double>(&value)) return *number;
  return static_cast<double>(whole_of(value));
}

std::vector<text::column> rank_columns(text::column_kind kind) {
  return {{"Ranks", text::column_kind::integer, 5},
          {"Rank Min", kind, 7},
          {"Rank Med", kind, 8},
          {"Rank Max", kind},
          {kind == text::column_kind::time ? "Slowest" : "Greatest", text::column_kind::text, 6}};
}

}  // namespace

bool summed_table::takes(text::table const& report) {
  auto const has = [&](role wanted) {
    return std::any_of(report.columns.begin(), report.columns.end(),
                       [&](text::column const& c) { return role_of(c) == wanted; });
  };
  return find_any(report.columns, totals) && find_any(report.columns, counts) &&
         has(role::average) && has(role::minimum) && has(role::maximum) && has(role::deviation);
}

void summed_table::add(text::table const& report, std::size_t rank) {
  std::vector<std::size_t> kept;  // other columns may be those of some ranks only
  for (std::size_t i = 0; i < report.columns.size(); ++i)
    if (role_of(report.columns[i]) != role::nothing) kept.push_back(i);
  if (columns_.empty()) {
    name_ = report.name;
    title_ = report.title;
    for (auto const i : kept) columns_.push_back(report.columns[i]);
    total_ = *find_any(columns_, totals);
    count_ = *find_any(columns_, counts);
  }
  report.each_row([&](text::row const& row) {
    text::row cells;
    for (auto const i : kept) cells.push_back(row[i]);
    std::vector<std::string> key;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (role_of(columns_[i]) != role::key) continue;
      auto const* const text = std::get_if<std::string_view>(&cells[i]);
      key.emplace_back(text != nullptr ? *text : std::string_view{});
    }
    add_to(lines_[std::move(key)], cells, rank);
  });
}

void summed_table::add_to(line& of, text::row const& cells, std::size_t rank) const {
  auto const is_first = of.sums.empty();
  if (is_first) of.sums.resize(columns_.size());
  double mean = 0, deviation = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto const value = whole_of(cells[i]);
    switch (role_of(columns_[i])) {
      case role::sum:
        of.sums[i] += value;
        break;
      case role::average:
        mean = number_of(cells[i]);
        break;
      case role::deviation:
        deviation = number_of(cells[i]);
        break;
      case role::minimum:
        of.minimum = is_first ? value : std::min(of.minimum, value);
        break;
      case role::maximum:
        of.maximum = std::max(of.maximum, value);
        break;
      default:
        break;
    }
  }
  auto const count = static_cast<double>(whole_of(cells[count_]));
  if (auto const all = of.count + count; all > 0) {  // Chan's method of combining two variances
    auto const apart = mean - of.mean;
    of.deviations +=
        deviation * deviation * std::max(count - 1, 0.0) + apart * apart * of.count * count / all;
    of.mean += apart * count / all;
    of.count = all;
  }
  auto const total = static_cast<double>(whole_of(cells[total_]));
  if (!of.of_ranks.empty() && of.of_ranks.back().rank == rank)
    of.of_ranks.back().value += total;  // the same line occurs for several threads
  else
    of.of_ranks.push_back({rank, total});
}

text::table summed_table::finish(std::vector<std::string> const& rank_labels) const {
  std::vector<text::column> columns;
  auto const kind = columns_[total_].kind;
  for (auto const& column : columns_) {
    auto const is = role_of(column);
    columns.push_back(column);
    if (is != role::deviation) continue;
    for (auto& more : rank_columns(kind)) columns.push_back(std::move(more));
  }
  std::vector<std::pair<std::vector<std::string> const*, line const*>> sorted;
  std::int64_t all = 0;
  for (auto const& [key, of] : lines_) {
    sorted.emplace_back(&key, &of);
    all += of.sums[total_];
  }
  std::stable_sort(sorted.begin(), sorted.end(), [this](auto const& a, auto const& b) {
    return a.second->sums[total_] > b.second->sums[total_];
  });
  owned_rows out;
  for (auto const& [key, of] : sorted) {
    auto cells = cells_of(*key, *of, all);
    for (auto& value : cells)
      if (auto* const text = std::get_if<std::string_view>(&value))
        value = out.keep(std::string(*text));
    auto const spread = spread_of(of->of_ranks);
    auto const behind = std::find_if(columns.begin(), columns.end(),
                                     [](text::column const& c) { return c.name == "Ranks"; });
    text::row const more = {whole(spread.ranks), static_cast<std::int64_t>(spread.minimum),
                            static_cast<std::int64_t>(spread.median),
                            static_cast<std::int64_t>(spread.maximum),
                            out.keep(rank_labels[spread.greatest])};
    cells.insert(cells.begin() + (behind - columns.begin()), more.begin(), more.end());
    out.rows.push_back(std::move(cells));
  }
  return table_of(name_, title_, std::move(columns), std::move(out));
}

text::row summed_table::cells_of(std::vector<std::string> const& texts, line const& of,
                                 std::int64_t all) const {
  text::row cells;
  std::size_t text = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    switch (role_of(columns_[i])) {
      case role::key:
        cells.emplace_back(std::string_view(texts[text++]));
        break;
      case role::share:
        cells.emplace_back(
            percent(static_cast<std::uint64_t>(of.sums[total_]), static_cast<std::uint64_t>(all)));
        break;
      case role::sum:
        cells.emplace_back(of.sums[i]);
        break;
      case role::average:
        cells.emplace_back(of.mean);
        break;
      case role::minimum:
        cells.emplace_back(of.minimum);
        break;
      case role::maximum:
        cells.emplace_back(of.maximum);
        break;
      case role::deviation:
        cells.emplace_back(of.count > 1 ? std::sqrt(of.deviations / (of.count - 1)) : 0.0);
        break;
      case role::nothing:
        break;
    }
  }
  return cells;
}

}  // namespace gpuprof::host::report
