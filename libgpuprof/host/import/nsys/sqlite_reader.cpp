// SPDX-License-Identifier: Apache-2.0
#include "host/import/nsys/sqlite_reader.hpp"

#include "host/import/import_job.hpp"

#include <sqlite3.h>

namespace gpuprof::host {

void sqlite_rows::finalized::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

bool sqlite_rows::next() noexcept {
  status_ = sqlite3_step(statement_.get());
  return status_ == SQLITE_ROW;
}

std::string sqlite_rows::failure() const {
  if (status_ == SQLITE_DONE || status_ == SQLITE_ROW || status_ == SQLITE_OK) return {};
  if (status_ == SQLITE_NOMEM) throw std::bad_alloc();
  return sqlite3_errmsg(sqlite3_db_handle(statement_.get()));
}

bool sqlite_rows::is_null(int column) const noexcept {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool sqlite_rows::is_text(int column) const noexcept {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT;
}

std::int64_t sqlite_rows::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_.get(), column);
}

double sqlite_rows::real(int column) const noexcept {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view sqlite_rows::text(int column) const noexcept {
  auto const* const bytes = sqlite3_column_blob(statement_.get(), column);
  auto const size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr
             ? std::string_view{}
             : std::string_view{static_cast<char const*>(bytes), static_cast<std::size_t>(size)};
}

void sqlite_rows::bind(int place, std::int64_t value) noexcept {
  sqlite3_bind_int64(statement_.get(), place, value);
}

void sqlite_rows::reset() noexcept {
  sqlite3_reset(statement_.get());
}

void sqlite_reader::closed::operator()(sqlite3* file) const noexcept {
  sqlite3_close(file);
}

sqlite_reader::sqlite_reader(std::string const& path) : path_(path) {
  sqlite3* file = nullptr;
  auto const opened = sqlite3_open_v2(path.c_str(), &file, SQLITE_OPEN_READONLY, nullptr);
  file_.reset(file);
  if (opened != SQLITE_OK)
    throw import_failure("cannot open " + path + ": " + sqlite3_errmsg(file) +
                         "; nothing is written");
  // The file comes from elsewhere: nothing in its schema may run code.
  sqlite3_db_config(file, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(file, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  auto tables = prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
  std::vector<std::string> names;
  while (tables.next()) names.emplace_back(tables.text(0));
  if (auto const failure = tables.failure(); !failure.empty())
    throw import_failure("cannot read " + path + ": " + failure +
                         "; nothing is written, export it once more");
  for (auto const& name : names) tables_.emplace_back(name, std::set<std::string>{});
}

sqlite_rows sqlite_reader::prepare(std::string const& query) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(file_.get(), query.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    throw import_failure("cannot read " + path_ + ": " + sqlite3_errmsg(file_.get()) +
                         "; nothing is written, export it once more");
  return sqlite_rows(statement);
}

std::vector<std::string> sqlite_reader::tables() const {
  std::vector<std::string> names;
  for (auto const& [name, columns] : tables_) names.push_back(name);
  return names;
}

bool sqlite_reader::has(std::string const& table) {
  for (auto const& [name, columns] : tables_)
    if (name == table) return true;
  return false;
}

std::set<std::string> const& sqlite_reader::columns_of(std::string const& table) {
  static std::set<std::string> const none;
  for (auto& [name, columns] : tables_) {
    if (name != table) continue;
    if (!columns.empty()) return columns;
    auto described = prepare("PRAGMA table_info(\"" + table + "\")");
    while (described.next()) columns.emplace(described.text(1));
    return columns;
  }
  return none;
}

bool sqlite_reader::has(std::string const& table, std::string const& column) {
  return columns_of(table).contains(column);
}

sqlite_rows sqlite_reader::select(std::string const& table,
                                  std::initializer_list<char const*> columns,
                                  std::string const& rest) {
  std::string query;
  for (auto const* const column : columns) {
    query += query.empty() ? "SELECT " : ", ";
    query += has(table, column) ? "\"" + std::string(column) + "\"" : "NULL";
  }
  return prepare(query + " FROM \"" + table + "\" " + rest);
}

std::uint64_t sqlite_reader::row_count(std::string const& table) {
  if (!has(table)) return 0;
  auto rows = prepare("SELECT max(_rowid_) FROM \"" + table + "\"");
  return rows.next() && rows.integer(0) > 0 ? static_cast<std::uint64_t>(rows.integer(0)) : 0;
}

}  // namespace gpuprof::host
