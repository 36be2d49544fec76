// SPDX-License-Identifier: Apache-2.0
// Reads tables of an SQLite file, whatever columns they have.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace gpuprof::host {

/// Rows of a query. NULL reads as 0 and as the empty text.
class sqlite_rows {
 public:
  explicit sqlite_rows(sqlite3_stmt* statement) noexcept : statement_(statement) {}

  /// Returns false after the last row, or if the file is damaged: then failure() says how.
  bool next() noexcept;
  std::string failure() const;

  bool is_null(int column) const noexcept;
  std::int64_t integer(int column) const noexcept;
  double real(int column) const noexcept;
  /// Returns the text as in the file. Valid until next().
  std::string_view text(int column) const noexcept;
  bool is_text(int column) const noexcept;

  void bind(int place, std::int64_t value) noexcept;
  void reset() noexcept;

 private:
  struct finalized {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  std::unique_ptr<sqlite3_stmt, finalized> statement_;
  int status_ = 0;
};

class sqlite_reader {
 public:
  /// Throws import_failure.
  explicit sqlite_reader(std::string const& path);

  std::vector<std::string> tables() const;
  bool has(std::string const& table);
  bool has(std::string const& table, std::string const& column);

  /// Reads these columns of a table that exists. A missing column reads as NULL. `rest` follows the
  /// table's name, for example "WHERE ...".
  sqlite_rows select(std::string const& table, std::initializer_list<char const*> columns,
                     std::string const& rest = {});
  /// A rough estimate that costs nothing.
  std::uint64_t row_count(std::string const& table);

 private:
  struct closed {
    void operator()(sqlite3* file) const noexcept;
  };
  std::set<std::string> const& columns_of(std::string const& table);
  sqlite_rows prepare(std::string const& query);

  std::string const path_;
  std::unique_ptr<sqlite3, closed> file_;
  std::vector<std::pair<std::string, std::set<std::string>>> tables_;
};

}  // namespace gpuprof::host
