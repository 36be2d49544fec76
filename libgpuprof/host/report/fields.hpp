// SPDX-License-Identifier: Apache-2.0
// A table of fields says once how a figure is named and read; rows of CSV and objects of JSON are
// written from it.
#pragma once

#include "text/table.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gpuprof::host::report {

/// A value written differently in a cell and in JSON: "8 1 1" and [8, 1, 1].
struct written_value {
  std::string cell;
  std::string json;  // JSON text
};

/// std::monostate is an empty cell, and null in JSON; a flag is "yes" or an empty cell.
using field_value =
    std::variant<std::monostate, std::string, std::uint64_t, double, bool, written_value>;

inline field_value known(std::optional<double> value) {
  return value ? field_value(*value) : field_value();
}

template <class Line>
struct field {
  std::string column;  // name in CSV; empty: only in JSON
  std::string member;  // name in JSON, "sources.dram" in an inner object; empty: only in CSV
  text::column_kind kind = text::column_kind::text;
  std::function<field_value(Line const&)> get;
  bool left_out_when_unknown = false;  // in JSON, instead of null
};

/// `keep` stores a text where it outlives the cell.
text::cell cell_of(field_value const& value,
                   std::function<std::string_view(std::string)> const& keep);

/// Writes one object. Members of an inner object must be consecutive.
class field_object {
 public:
  explicit field_object(std::string& out);
  void add(std::string_view member, field_value const& value, bool left_out_when_unknown);
  void end();

 private:
  void open(std::string_view group);
  std::string& out_;
  std::string group_;
  bool is_first_ = true;
};

/// The lines must outlive the table.
template <class Line>
text::table table_of_fields(std::string name, std::string title, std::vector<field<Line>> fields,
                            std::span<Line const> lines) {
  std::erase_if(fields, [](auto const& one) { return one.column.empty(); });
  std::vector<text::column> columns;
  for (auto const& one : fields) columns.push_back({one.column, one.kind});
  return {std::move(name), std::move(title), std::move(columns),
          [fields = std::move(fields), lines](std::function<void(text::row const&)> const& take) {
            for (auto const& line : lines) {
              std::vector<std::unique_ptr<std::string>> texts;
              auto const keep = [&](std::string text) -> std::string_view {
                return *texts.emplace_back(std::make_unique<std::string>(std::move(text)));
              };
              text::row cells;
              for (auto const& one : fields) cells.push_back(cell_of(one.get(line), keep));
              take(cells);
            }
          }};
}

template <class Line>
void append_object(std::string& out, std::vector<field<Line>> const& fields, Line const& line) {
  field_object o(out);
  for (auto const& one : fields)
    if (!one.member.empty()) o.add(one.member, one.get(line), one.left_out_when_unknown);
  o.end();
}

}  // namespace gpuprof::host::report
