// SPDX-License-Identifier: Apache-2.0
#include "ranks/lines_of_each.hpp"

#include <functional>
#include <string_view>

namespace gpuprof {
namespace {

constexpr std::size_t not_there = ~std::size_t{0};

std::size_t place_of(std::string const& name, std::vector<report::column> const& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return i;
  return not_there;
}

/// Hands on the lines of a rank, in the columns of all.
void take_lines(report::table const& from, std::string_view rank,
                std::vector<report::column> const& columns,
                std::function<void(report::row const&)> const& take) {
  std::vector<std::size_t> places;
  for (auto const& column : columns) places.push_back(place_of(column.name, from.columns));
  from.each_row([&](report::row const& cells) {
    report::row line = {rank};
    for (auto const place : places)
      line.push_back(place != not_there ? cells[place] : report::cell());
    take(line);
  });
}

}  // namespace

void add_columns(std::vector<report::column>& to, std::vector<report::column> const& more) {
  for (auto const& column : more)
    if (place_of(column.name, to) == not_there) to.push_back(column);
}

report::table lines_of_each(report::table const& like, capture_set const& set,
                            chosen_report const& report, rank_stats_inputs const& inputs) {
  report::table table{like.name, like.title, {{"Rank", report::column_kind::text}}, {}};
  table.columns.insert(table.columns.end(), like.columns.begin(), like.columns.end());
  table.each_row = [captures = set.captures, columns = like.columns, report,
                    inputs](auto const& take) {
    for (auto const& capture : captures) {
      auto const outcome = make_stats({capture.path, {report}, inputs.filters, inputs.scope});
      if (!outcome.made || !outcome.made->reports().front().missing.empty()) continue;
      take_lines(outcome.made->reports().front().table, capture.label, columns, take);
    }
  };
  return table;
}

}  // namespace gpuprof
