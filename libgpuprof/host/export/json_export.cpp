// SPDX-License-Identifier: Apache-2.0
// Writes one JSON document with every table: columns with types and units, then rows, one per line.
#include "base/utf8.hpp"
#include "host/export/export_job.hpp"
#include "host/export/raw_table.hpp"
#include "host/export/unfinished_output.hpp"

#include <charconv>
#include <cmath>

namespace gpuprof::host {
namespace {

// Raised when a reader of an earlier version would misread a document.
constexpr int schema_version = 1;
// Most readers turn a number into a double, which is no longer exact beyond this.
constexpr std::uint64_t exact_in_double = std::uint64_t{1} << 53;

struct value_writer {
  std::string& out;
  void operator()(std::string_view text) const { append_json_text(out, text); }
  void operator()(bool is) const { out += is ? "true" : "false"; }
  void operator()(double number) const {
    if (std::isfinite(number))
      digits(number);
    else
      out += "null";
  }
  void operator()(std::uint64_t number) const { whole(number, number > exact_in_double); }
  void operator()(std::int64_t number) const {
    auto const size =
        number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    whole(number, size > exact_in_double);
  }

 private:
  void whole(auto number, bool as_text) const {
    if (as_text) out += '"';
    digits(number);
    if (as_text) out += '"';
  }
  void digits(auto number) const {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
  }
};

void append_columns(std::string& out, raw_table const& table) {
  out += "{\"columns\": [";
  bool is_first = true;
  for (auto const& column : table.columns) {
    out += std::exchange(is_first, false) ? "{\"name\": " : ", {\"name\": ";
    append_json_text(out, column.name);
    out += ", \"type\": ";
    append_json_text(out, column.type);
    out += ", \"unit\": ";
    append_json_text(out, column.unit);
    out += '}';
  }
  out += "], \"rows\": [";
}

}  // namespace

result<export_notes> write_json(export_job& job, std::string const& path, bool overwrite) {
  auto file = unfinished_file::create(path, overwrite);
  if (!file) return error{file.message()};
  std::string out = "{\"schema_version\": " + std::to_string(schema_version) +
                    ", \"made_by\": \"gpuprof\", \"tables\": {";
  bool is_first_table = true, is_first_row = true;
  raw_table_sink sink;
  sink.begin = [&](raw_table const& table) {
    out += std::exchange(is_first_table, false) ? "\n" : ",\n";
    append_json_text(out, table.name);
    out += ": ";
    append_columns(out, table);
    is_first_row = true;
  };
  sink.row = [&](std::span<raw_value const> values) {
    out += std::exchange(is_first_row, false) ? "\n[" : ",\n[";
    bool is_first = true;
    for (auto const& value : values) {
      if (!std::exchange(is_first, false)) out += ", ";
      std::visit(value_writer{out}, value);
    }
    out += ']';
    file->put(out);
    out.clear();
  };
  sink.end = [&] { out += "\n]}"; };
  each_raw_table(job, sink);
  out += "\n}}\n";
  file->put(out);
  if (auto const done = file->finish(); !done) return error{done.message()};
  return export_notes{};
}

}  // namespace gpuprof::host
