// SPDX-License-Identifier: Apache-2.0
// Merges records of several tables of a capture into one stream in order of time.
#pragma once

#include "host/reading/ordered_rows.hpp"

#include <tuple>

namespace gpuprof::host {

template <class Row, class F>
ordered_rows<Row> rows_wanted_by(F const& f, capture::reader& file,
                                 capture::column_set<Row> columns,
                                 time_stretches const& stretches) {
  if constexpr (requires { f.template wants<Row>(); })
    if (!f.template wants<Row>()) return ordered_rows<Row>::none(file);
  return ordered_rows<Row>(file, columns, stretches);
}

template <class F, class... Rows>
void for_each_merged(F& f, std::tuple<ordered_rows<Rows>...> tables) {
  for (;;) {
    timestamp_ns earliest{~std::uint64_t{0}};
    bool any = false;
    auto const look = [&](auto& rows) {
      auto const* const row = rows.peek();
      if (row == nullptr) return;
      earliest = any ? std::min(earliest, time_of(*row)) : time_of(*row);
      any = true;
    };
    std::apply([&](auto&... rows) { (look(rows), ...); }, tables);
    if (!any) return;
    auto const take = [&](auto& rows) {
      for (auto const* row = rows.peek(); row != nullptr && time_of(*row) == earliest;
           row = rows.peek()) {
        f(*row);
        rows.skip();
      }
    };
    std::apply([&](auto&... rows) { (take(rows), ...); }, tables);
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
