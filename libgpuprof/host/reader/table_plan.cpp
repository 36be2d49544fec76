// SPDX-License-Identifier: Apache-2.0
#include "host/reader/table_plan.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::host {
namespace {

using capture::value_type;
using content = exported_column::content;

char const* format_of(exported_column const& column) noexcept {
  if (column.holds != content::number) return "i";
  if (column.source == nullptr) return column.name == still_open_column ? "C" : "l";
  switch (column.source->type) {
    case value_type::u8:
      return "C";
    case value_type::u16:
      return "S";
    case value_type::u32:
      return "I";
    case value_type::i32:
      return "i";
    case value_type::i64:
      return "l";
    case value_type::f64:
      return "g";
    case value_type::boolean:
      return "b";
    default:  // times are subtracted from each other
      return column.unit.empty() ? "L" : "l";
  }
}

exported_column made_column(std::string_view name, std::string_view unit, std::string_view meaning,
                            content holds) {
  return {name, unit, meaning, nullptr, 0, holds};
}

std::vector<exported_column> columns_of_made(std::string_view table) {
  if (table == missing_lines)
    return {
        made_column("line", "", "what is missing, and how to lose less", content::text_of_name)};
  return {made_column("table", "", "its name", content::text_of_name),
          made_column("rows", "row", "how many it has, unless blocks of it are damaged",
                      content::number),
          made_column("meaning", "", "what a row of it is", content::text_of_name)};
}

/// `time` becomes `start`, as in other tables of what takes time.
std::vector<exported_column> columns_of_ranges(capture::table_layout const& begins) {
  auto all = exported_columns(begins);
  all.front().name = "start";
  all.insert(
      all.begin() + 1,
      made_column(duration_column, "ns", "to its end, or the end of the capture", content::number));
  all.push_back(made_column(still_open_column, "", "1: it had no end when the capture ended",
                            content::number));
  return all;
}

capture::table_layout const* layout_named(std::string_view name) noexcept {
  if (name == whole_ranges) name = capture::table<range_begin>::name;
  for (auto const& table : capture::all_tables())
    if (table.name == name && is_exported(table)) return &table;
  return nullptr;
}

std::string joined(auto const& parts, auto name_of_part) {
  std::string text;
  for (auto const& part : parts)
    text += (text.empty() ? "" : ", ") + std::string(name_of_part(part));
  return text;
}

error no_such_table(std::string const& name) {
  std::vector<std::string_view> names{list_of_tables, missing_lines, whole_ranges};
  for (auto const& table : capture::all_tables())
    if (is_exported(table)) names.push_back(table.name);
  return error{"a capture has no table '" + name + "'; there are " +
               joined(names, [](auto text) { return text; })};
}

}  // namespace

result<table_plan> plan_of(std::string table, std::span<std::string_view const> wanted,
                           bool has_rank) {
  table_plan plan;
  plan.layout = layout_named(table);
  if (plan.layout == nullptr && table != list_of_tables && table != missing_lines)
    return no_such_table(table);
  auto all = plan.layout == nullptr  ? columns_of_made(table)
             : table == whole_ranges ? columns_of_ranges(*plan.layout)
                                     : exported_columns(*plan.layout);
  if (has_rank || std::find(wanted.begin(), wanted.end(), rank_column) != wanted.end())
    all.push_back(made_column(rank_column, "",
                              "of the process in its job; where it had none, the place of its "
                              "capture among those that were opened",
                              content::number));
  if (wanted.empty()) plan.columns = all;
  for (auto const name : wanted) {
    auto const at = std::find_if(all.begin(), all.end(),
                                 [name](auto const& column) { return column.name == name; });
    if (at == all.end())
      return error{"table '" + table + "' has no column '" + std::string(name) + "'; there are " +
                   joined(all, [](auto const& column) { return column.name; })};
    plan.columns.push_back(*at);
  }
  for (auto const& column : plan.columns)
    plan.fields.push_back({std::string(column.name), std::string(column.unit),
                           std::string(column.meaning), format_of(column),
                           column.holds != content::number});
  plan.table = std::move(table);
  return plan;
}

}  // namespace gpuprof::host
