// SPDX-License-Identifier: Apache-2.0
#include "host/report/nsys_rule_tables.hpp"

#include "host/analysis/memory_summary.hpp"
#include "host/report/owned_rows.hpp"

namespace gpuprof::report {
namespace {

using enum column_kind;

/// What starts before the origin shows as a negative number.
cell time_cell(timestamp_ns moment, rule_table_context const& context) {
  return static_cast<std::int64_t>(moment.value - context.origin.value);
}

std::vector<column> memory_columns(bool of_copies) {
  std::vector<column> columns = {{"Duration", column_kind::time}, {"Start", column_kind::time}};
  if (of_copies) {
    columns.push_back({"Src Kind"});
    columns.push_back({"Dst Kind"});
  } else {
    columns.push_back({"Memory Kind"});
  }
  for (column each :
       {column{"Bytes", column_kind::size}, column{"PID", integer}, column{"Device ID", integer},
        column{"Context ID", integer}, column{"Green Context ID", integer},
        column{"Stream ID", integer}, column{"API Name"}})
    columns.push_back(std::move(each));
  return columns;
}

table memory_table(std::string name, std::string title, bool of_copies,
                   std::vector<nsys_rules::memory_row> const& rows,
                   rule_table_context const& context) {
  owned_rows owned;
  for (auto const& one : rows) {
    row cells = {whole(one.duration), time_cell(one.start, context)};
    if (of_copies) cells.emplace_back(text_of(one.source));
    cells.emplace_back(text_of(one.destination));
    for (cell const& each : {cell{whole(one.bytes)}, cell{whole(context.process)},
                             cell{whole(raw(one.device))}, cell{whole(raw(one.context))}, cell{},
                             cell{whole(raw(one.stream))}, cell{context.text(one.call)}})
      cells.push_back(each);
    owned.rows.push_back(std::move(cells));
  }
  return table_of(std::move(name), std::move(title), memory_columns(of_copies), std::move(owned));
}

}  // namespace

table copy_rule_table(std::string name, std::string title,
                      std::vector<nsys_rules::memory_row> const& rows,
                      rule_table_context const& context) {
  return memory_table(std::move(name), std::move(title), true, rows, context);
}

table fill_rule_table(std::string name, std::string title,
                      std::vector<nsys_rules::memory_row> const& rows,
                      rule_table_context const& context) {
  return memory_table(std::move(name), std::move(title), false, rows, context);
}

table wait_rule_table(std::string name, std::string title,
                      std::vector<nsys_rules::call_row> const& rows,
                      rule_table_context const& context) {
  owned_rows owned;
  for (auto const& one : rows)
    owned.rows.push_back({whole(one.duration), time_cell(one.start, context),
                          whole(context.process), whole(one.os_thread), context.text(one.call)});
  return table_of(std::move(name), std::move(title),
                  {{"Duration", column_kind::time},
                   {"Start", column_kind::time},
                   {"PID", integer},
                   {"TID", integer},
                   {"API Name"}},
                  std::move(owned));
}

table gap_rule_table(std::string name, std::string title,
                     std::vector<nsys_rules::gap_row> const& rows,
                     rule_table_context const& context) {
  owned_rows owned;
  for (auto const& one : rows)
    owned.rows.push_back({whole(owned.rows.size() + 1), whole(one.duration),
                          time_cell(one.start, context), whole(context.process),
                          whole(raw(one.device)), whole(raw(one.context))});
  return table_of(std::move(name), std::move(title),
                  {{"Row#", integer},
                   {"Duration", column_kind::time},
                   {"Start", column_kind::time},
                   {"PID", integer},
                   {"Device ID", integer},
                   {"Context ID", integer}},
                  std::move(owned));
}

table use_rule_table(std::string name, std::string title,
                     std::vector<nsys_rules::use_row> const& rows,
                     rule_table_context const& context) {
  owned_rows owned;
  for (auto const& one : rows)
    owned.rows.push_back({whole(owned.rows.size() + 1), one.percent, whole(one.duration),
                          time_cell(one.start, context), whole(context.process),
                          whole(raw(one.device)), whole(raw(one.context))});
  return table_of(std::move(name), std::move(title),
                  {{"Row#", integer},
                   {"In-Use", share},
                   {"Duration", column_kind::time},
                   {"Start", column_kind::time},
                   {"PID", integer},
                   {"Device ID", integer},
                   {"Context ID", integer}},
                  std::move(owned));
}

}  // namespace gpuprof::report
