// SPDX-License-Identifier: Apache-2.0
// Merges records of several tables of a capture into one stream in order of time.
#pragma once

#include "host/reading/ordered_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

namespace gpuprof::host {

template <class Row, class F>
ordered_rows<Row> rows_wanted_by(F const& f, capture::reader& file,
                                 capture::column_set<Row> columns,
                                 time_stretches const& stretches) {
  if constexpr (requires { f.template wants<Row>(); })
    if (!f.template wants<Row>()) return ordered_rows<Row>::none(file);
  return ordered_rows<Row>(file, columns, stretches);
}

/// Takes rows of one table for as long as they are the earliest.
template <class F, class... Rows>
void for_each_merged(F& f, std::tuple<ordered_rows<Rows>...> tables) {
  constexpr auto ended = std::numeric_limits<std::uint64_t>::max();
  constexpr auto all = std::index_sequence_for<Rows...>();
  std::array<std::uint64_t, sizeof...(Rows)> next{};  // time of the next row by table
  auto const time_at = [](auto const* row) {
    return row == nullptr ? ended : std::min(time_of(*row).value, ended - 1);
  };
  auto const for_table = [&]<std::size_t... I>(std::size_t wanted, auto const& act,
                                               std::index_sequence<I...>) {
    ((I == wanted ? act(std::get<I>(tables)) : void()), ...);
  };
  std::array<std::size_t, sizeof...(Rows)> left{};  // the tables that have rows, in their order
  std::size_t count = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    for_table(
        i, [&](auto& rows) { next[i] = time_at(rows.peek()); }, all);
    if (next[i] != ended) left[count++] = i;
  }
  while (count > 0) {
    auto first = left[0];
    for (std::size_t k = 1; k < count; ++k)
      if (next[left[k]] < next[first]) first = left[k];
    // Rows of later tables come after rows with the same time, those of earlier tables before them.
    auto limit = ended;
    for (std::size_t k = 0; k < count; ++k)
      if (auto const i = left[k]; i != first)
        limit = std::min(limit, i < first ? next[i] : next[i] + 1);
    for_table(
        first,
        [&](auto& rows) {
          auto const* row = rows.peek();
          do {
            f(*row);
            rows.skip();
            row = rows.peek();
            next[first] = time_at(row);
          } while (next[first] < limit);
        },
        all);
    if (next[first] == ended)
      count = static_cast<std::size_t>(std::remove(left.begin(), left.begin() + count, first) -
                                       left.begin());
  }
}

/// Calls f(row) for every row of the given tables, earliest first. Rows with equal times come in
/// the order of the tables. `wanted`: the columns of each table to decode in addition to the time.
///
/// If f has a function wants<Row>() and it returns false, the table is not read.
template <class... Rows, class F>
void for_each_in_time(capture::reader& file, F&& f, capture::column_set<Rows>... wanted) {
  for_each_merged(f, std::tuple{rows_wanted_by<Rows>(f, file, wanted, {})...});
}

/// As above, but with all columns, and only rows that begin inside one of the stretches, if there
/// are any.
///
///   for_each_in_time<kernel_record, copy_record>(trace.file(), [&](auto const& row) { ... });
template <class... Rows, class F>
void for_each_in_time(capture::reader& file, F&& f, time_stretches const& stretches = {}) {
  for_each_merged(
      f, std::tuple{rows_wanted_by<Rows>(f, file, capture::column_set<Rows>{}, stretches)...});
}

}  // namespace gpuprof::host
