// SPDX-License-Identifier: Apache-2.0
// A version of the format is a set of columns: who changes the one changes the other.
#include "capture/column_notes.hpp"
#include "capture/format.hpp"
#include "capture/layout.hpp"
#include "support/golden.hpp"
#include "support/test_data.hpp"

#include <set>
#include <sstream>

using namespace gpuprof::capture;
using namespace gpuprof::test;

namespace {

/// "7 shape 13 arguments u32": a line for each column.
std::string columns_of_this_version() {
  std::string lines;
  for (auto const& table : all_tables())
    for (std::size_t place = 0; place < table.columns.size(); ++place) {
      auto const& column = table.columns[place];
      lines += std::to_string(table.number) + " " + std::string(table.name) + " " +
               std::to_string(place) + " " + std::string(column.name) + " " +
               std::string(name_of(column.type)) + "\n";
    }
  return lines;
}

/// As in docs/capture-format.md.
std::string tables_described() {
  std::string text;
  for (auto const& table : all_tables()) {
    auto const* const about = note_of(table.name);
    REQUIRE(about != nullptr);
    text +=
        "\n### " + std::to_string(table.number) + " " + std::string(table.name) + "\n\n" +
        std::string(about->meaning) + ". Rows: " + std::string(about->order) +
        ".\n\n| place | column | type | unit | refers to | meaning |\n|---|---|---|---|---|---|\n";
    for (std::size_t place = 0; place < table.columns.size(); ++place) {
      auto const& column = table.columns[place];
      INFO(table.name << "." << column.name);
      auto const* const note = note_of(table.name, column.name);
      REQUIRE(note != nullptr);
      text += "| " + std::to_string(place);
      for (auto const cell :
           {column.name, name_of(column.type), note->unit, note->refers_to, note->meaning})
        text += " | " + std::string(cell);
      text += " |\n";
    }
  }
  return text + "\n";
}

constexpr std::string_view tables_begin =
    "<!-- tables: made from the code by tests/unit/capture/columns_test.cpp -->\n";
constexpr std::string_view tables_end = "<!-- end of tables -->";

bool is_column(std::string_view reference) {
  for (auto const& table : all_tables())
    for (auto const& column : table.columns)
      if (reference == std::string(table.name) + "." + std::string(column.name)) return true;
  return false;
}

std::string file_of(unsigned minor) {
  return "capture_columns_" + std::to_string(format_major) + "." + std::to_string(minor) + ".txt";
}

}  // namespace

// Where this fails after a change of tables.hpp: raise format_minor, say in docs/capture-format.md
// what it adds, and write the new file, and that page's tables, with GPUPROF_UPDATE_GOLDEN=1.
TEST_CASE("the columns of a minor version never change") {
  check_golden(file_of(format_minor), columns_of_this_version());
}

TEST_CASE("a version keeps every column of those before it") {
  std::istringstream now(columns_of_this_version());
  std::set<std::string> kept;
  for (std::string line; std::getline(now, line);) kept.insert(line);
  int files = 0;
  for (unsigned minor = 0; minor <= format_minor; ++minor) {
    std::istringstream before(read_file(test_data("golden/" + file_of(minor))));
    for (std::string line; std::getline(before, line);) {
      INFO(file_of(minor) << ": " << line);
      CHECK(kept.contains(line));
    }
    files += !before.str().empty();
  }
  CHECK(files >= 1);
}

TEST_CASE("the description names the minor version") {
  auto const page = read_file(GPUPROF_CAPTURE_PAGE);
  CHECK(page.find("u16 minor version: " + std::to_string(format_minor) + " ") != std::string::npos);
}

TEST_CASE("the description has every column with its meaning") {
  auto page = read_file(GPUPROF_CAPTURE_PAGE);
  auto const begin = page.find(tables_begin);
  auto const end = page.find(tables_end);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  auto const from = begin + tables_begin.size();
  if (std::getenv("GPUPROF_UPDATE_GOLDEN") != nullptr) {
    page.replace(from, end - from, tables_described());
    std::ofstream(GPUPROF_CAPTURE_PAGE, std::ios::binary) << page;
  }
  CHECK(page.substr(from, end - from) == tables_described());
}

TEST_CASE("every reference of a column names a column") {
  for (auto const& table : all_tables())
    for (auto const& column : table.columns) {
      auto const reference = note_of(table.name, column.name)->refers_to;
      INFO(table.name << "." << column.name << " refers to " << reference);
      CHECK((reference.empty() || is_column(reference)));
    }
}
