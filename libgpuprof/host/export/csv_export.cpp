// SPDX-License-Identifier: Apache-2.0
// Writes a folder with a CSV file (RFC 4180) for each table, with names instead of their ids.
#include "host/export/export_job.hpp"
#include "host/export/raw_table.hpp"
#include "host/export/unfinished_output.hpp"

#include <charconv>
#include <optional>

namespace gpuprof::host {
namespace {

void append_field(std::string& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (char const c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

struct field_writer {
  std::string& line;
  void operator()(std::string_view text) const { append_field(line, text); }
  void operator()(bool is) const { line += is ? '1' : '0'; }
  void operator()(auto number) const {
    char digits[32];
    auto const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    line.append(digits, end);
  }
};

}  // namespace

result<export_notes> write_csv(export_job& job, std::string const& path, bool overwrite) {
  auto folder = unfinished_folder::create(path, overwrite);
  if (!folder) return error{folder.message()};
  std::optional<unfinished_file> file;
  std::string failure, line;
  auto const put_line = [&] {
    line += '\n';
    if (file) file->put(line);
    line.clear();
  };
  raw_table_sink sink;
  sink.begin = [&](raw_table const& table) {
    auto made = unfinished_file::create(
        folder->temporary_path() + "/" + std::string(table.name) + ".csv", false);
    if (!made && failure.empty()) failure = made.message();
    if (made) file.emplace(std::move(*made));
    for (auto const& column : table.columns) {
      if (!line.empty()) line += ',';
      line += column.name;
    }
    put_line();
  };
  sink.row = [&](std::span<raw_value const> values) {
    bool is_first = true;
    for (auto const& value : values) {
      if (!std::exchange(is_first, false)) line += ',';
      std::visit(field_writer{line}, value);
    }
    put_line();
  };
  sink.end = [&] {
    if (!file) return;
    auto const done = file->finish();
    if (!done && failure.empty()) failure = done.message();
    file.reset();
  };
  each_raw_table(job, sink);
  if (!failure.empty()) return error{failure};
  if (auto const done = folder->finish(); !done) return error{done.message()};
  return export_notes{};
}

}  // namespace gpuprof::host
