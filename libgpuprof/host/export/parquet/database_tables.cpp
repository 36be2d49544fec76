// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/database_tables.hpp"

#include "base/utf8.hpp"
#include "host/export/parquet/parquet_file.hpp"

#include <cmath>
#include <memory>
#include <new>
#include <sqlite3.h>
#include <vector>

namespace gpuprof::host {
namespace {

struct close_database {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
};
struct finish_statement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using database_handle = std::unique_ptr<sqlite3, close_database>;
using statement_handle = std::unique_ptr<sqlite3_stmt, finish_statement>;

[[noreturn]] void fail(sqlite3* database) {
  if (sqlite3_errcode(database) == SQLITE_NOMEM) throw std::bad_alloc();
  throw table_failed{std::string("cannot read the SQLite export: ") + sqlite3_errmsg(database)};
}

statement_handle prepared(sqlite3* database, std::string const& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    fail(database);
  return statement_handle(statement);
}

bool next(sqlite3* database, sqlite3_stmt* statement) {
  auto const came = sqlite3_step(statement);
  if (came != SQLITE_ROW && came != SQLITE_DONE) fail(database);
  return came == SQLITE_ROW;
}

std::string text_at(sqlite3_stmt* row, int place) {
  auto const* const bytes = reinterpret_cast<char const*>(sqlite3_column_text(row, place));
  return bytes == nullptr
             ? std::string()
             : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, place)));
}

column_kind kind_of(std::string const& type) {
  if (type == "REAL") return column_kind::real;
  return type == "TEXT" ? column_kind::plain_text : column_kind::number;
}

/// Rows of a table gathered for the next batch, by column.
class gathered_rows {
 public:
  explicit gathered_rows(std::vector<column_kind> kinds)
      : kinds_(std::move(kinds)), columns_(kinds_.size()) {}

  void add(sqlite3_stmt* row) {
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      add_value(row, static_cast<int>(i), kinds_[i], columns_[i]);
    ++count_;
  }
  void clear() {
    for (auto& column : columns_) column = {};
    count_ = 0;
  }
  std::size_t count() const noexcept { return count_; }
  column_values const& column(std::size_t i) const noexcept { return columns_[i]; }

 private:
  static void add_value(sqlite3_stmt* row, int place, column_kind kind, column_values& to) {
    auto const is_null = sqlite3_column_type(row, place) == SQLITE_NULL;
    if (kind == column_kind::real)
      to.reals.push_back(is_null ? std::nan("") : sqlite3_column_double(row, place));
    else if (kind == column_kind::number)
      to.numbers.push_back(is_null ? no_number : sqlite3_column_int64(row, place));
    else if (is_null)
      to.texts.emplace_back();
    else
      to.texts.emplace_back(valid_utf8(text_at(row, place)));
  }

  std::vector<column_kind> kinds_;
  std::vector<column_values> columns_;
  std::size_t count_ = 0;
};

struct table_schema {
  std::vector<std::string> names;
  std::vector<column_kind> kinds;
};

table_schema schema_of(sqlite3* database, std::string const& table) {
  table_schema schema;
  auto const columns = prepared(database, "PRAGMA table_info(\"" + table + "\")");
  while (next(database, columns.get())) {
    schema.names.push_back(text_at(columns.get(), 1));
    schema.kinds.push_back(kind_of(text_at(columns.get(), 2)));
  }
  return schema;
}

std::vector<table_column> columns_of(table_schema const& schema, gathered_rows const& rows) {
  std::vector<table_column> made;
  for (std::size_t i = 0; i < schema.names.size(); ++i)
    made.push_back(
        {schema.names[i],
         schema.kinds[i],
         {},
         true,
         nullptr,
         [&rows, i](std::byte const*, std::size_t, column_values& out) { out = rows.column(i); }});
  return made;
}

void write_table(sqlite3* database, std::string const& table, std::string const& path,
                 std::function<void(std::uint64_t rows)> const& advance) {
  auto const schema = schema_of(database, table);
  gathered_rows rows(schema.kinds);
  auto file = parquet_file::create(path, columns_of(schema, rows), {});
  if (!file) throw table_failed{file.message()};
  auto const flush = [&] {
    file->put(nullptr, rows.count());
    advance(rows.count());
    rows.clear();
  };
  auto const all = prepared(database, "SELECT * FROM \"" + table + "\"");
  while (next(database, all.get())) {
    rows.add(all.get());
    if (rows.count() == parquet_file::batch_rows) flush();
  }
  flush();
  if (auto const done = file->finish(); !done) throw table_failed{done.message()};
}

}  // namespace

result<void> write_database_tables(std::string const& database, std::string const& folder,
                                   std::function<void(std::uint64_t rows)> const& advance) try {
  sqlite3* opened = nullptr;
  auto const failed =
      sqlite3_open_v2(database.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK;
  database_handle const handle(opened);
  if (failed) fail(opened);
  std::vector<std::string> names;
  auto const tables = prepared(opened, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (next(opened, tables.get())) names.push_back(text_at(tables.get(), 0));
  for (auto const& name : names)
    write_table(opened, name, folder + "/" + name + ".parquet", advance);
  return {};
} catch (table_failed const& why) {
  return error{why.message};
}

}  // namespace gpuprof::host
