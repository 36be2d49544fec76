// SPDX-License-Identifier: Apache-2.0
#include "host/report/nsys_rule_tables.hpp"

#include "host/analysis/memory_summary.hpp"
#include "host/report/owned_rows.hpp"

namespace gpuprof::host::report {
namespace {

using enum text::column_kind;

/// A time before the origin becomes a negative number.
text::cell time_cell(timestamp_ns moment, rule_table_context const& context) {
  return static_cast<std::int64_t>(moment.value - context.origin.value);
}

std::vector<text::column> memory_columns(bool of_copies) {
  std::vector<text::column> columns = {{"Duration", text::column_kind::time},
                                       {"Start", text::column_kind::time}};
  if (of_copies) {
    columns.push_back({"Src Kind"});
    columns.push_back({"Dst Kind"});
  } else {
    columns.push_back({"Memory Kind"});
  }
  for (text::column each :
       {text::column{"Bytes", text::column_kind::size}, text::column{"PID", integer},
        text::column{"Device ID", integer}, text::column{"Context ID", integer},
        text::column{"Green Context ID", integer}, text::column{"Stream ID", integer},
        text::column{"API Name"}})
    columns.push_back(std::move(each));
  return columns;
}

text::table memory_table(std::string name, std::string title, bool of_copies,
                         std::vector<nsys_rules::memory_row> const& rows,
                         rule_table_context const& context) {
  owned_rows owned;
  for (auto const& one : rows) {
    text::row cells = {whole(one.duration), time_cell(one.start, context)};
    if (of_copies) cells.emplace_back(text_of(one.source));
    cells.emplace_back(text_of(one.destination));
    for (text::cell const& each :
         {text::cell{whole(one.bytes)}, text::cell{whole(context.process)},
          text::cell{whole(raw(one.device))}, text::cell{whole(raw(one.context))}, text::cell{},
          text::cell{whole(raw(one.stream))}, text::cell{context.text(one.call)}})
      cells.push_back(each);
    owned.rows.push_back(std::move(cells));
  }
  return table_of(std::move(name), std::move(title), memory_columns(of_copies), std::move(owned));
}

}  // namespace

text::table copy_rule_table(std::string name, std::string title,
                            std::vector<nsys_rules::memory_row> const& rows,
                            rule_table_context const& context) {
  return memory_table(std::move(name), std::move(title), true, rows, context);
}

text::table fill_rule_table(std::string name, std::string title,
                            std::vector<nsys_rules::memory_row> const& rows,
                            rule_table_context const& context) {
  return memory_table(std::move(name), std::move(title), false, rows, context);
}

text::table wait_rule_table(std::string name, std::string title,
                            std::vector<nsys_rules::call_row> const& rows,
                            rule_table_context const& context) {
  owned_rows owned;
  for (auto const& one : rows)
    owned.rows.push_back({whole(one.duration), time_cell(one.start, context),
                          whole(context.process), whole(one.os_thread), context.text(one.call)});
  return table_of(std::move(name), std::move(title),
                  {{"Duration", text::column_kind::time},
                   {"Start", text::column_kind::time},
                   {"PID", integer},
                   {"TID", integer},
                   {"API Name"}},
                  std::move(owned));
}

text::table gap_rule_table(std::string name, std::string title,
                           std::vector<nsys_rules::gap_row> const& rows,
                           rule_table_context const& context) {
  owned_rows owned;
  for (auto const& one : rows)
    owned.rows.push_back({whole(owned.rows.size() + 1), whole(one.duration),
                          time_cell(one.start, context), whole(context.process),
                          whole(raw(one.device)), whole(raw(one.context))});
  return table_of(std::move(name), std::move(title),
                  {{"Row#", integer},
                   {"Duration", text::column_kind::time},
                   {"Start", text::column_kind::time},
                   {"PID", integer},
                   {"Device ID", integer},
                   {"Context ID", integer}},
                  std::move(owned));
}

text::table use_rule_table(std::string name, std::string title,
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
                   {"Duration", text::column_kind::time},
                   {"Start", text::column_kind::time},
                   {"PID", integer},
                   {"Device ID", integer},
                   {"Context ID", integer}},
                  std::move(owned));
}

}  // namespace gpuprof::host::report
