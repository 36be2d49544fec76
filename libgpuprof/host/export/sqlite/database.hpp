// SPDX-License-Identifier: Apache-2.0
// A SQLite file with the tables of nsys and of gpuprof, written once in one transaction, and its
// rows.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <sqlite3.h>
#include <string>
#include <string_view>

namespace gpuprof::host {

/// The tables of the SQLite export: those of nsys, with its columns, and those of gpuprof.
struct sqlite_table {
  std::string_view name;
  std::string_view columns;  // columns that get values, in the order of a row's values
  /// Columns of nsys that a capture has no values for. They are added after the rows, so that they
  /// take no space or time.
  std::string_view unfilled = {};
};

/// The version of nsys' schema that its tables follow, and of gpuprof's own.
inline constexpr int nsys_schema[] = {3, 7, 2};
inline constexpr int own_schema = 1;

namespace tables {

// Tables of nsys for its records.
extern sqlite_table const string_ids, kernel, memcpy, memset, graph_trace, runtime, synchronization,
    memory_usage, cpu_page_faults, gpu_page_faults, nvtx_events;
// Tables of nsys that explain the records.
extern sqlite_table const target_gpu, target_cuda_device, target_context, target_session_start,
    target_system, analysis_details, meta_export, meta_capture, processes, thread_names;
// Tables of gpuprof.
extern sqlite_table const facts, counters, losses, windows, clocks, metrics, readings,
    reading_values, samples, sampling_windows, peaks, kernel_code, declared_work, roofline,
    roofline_flops;

}  // namespace tables

std::span<sqlite_table const* const> all_sqlite_tables() noexcept;

/// SQL statements that create the indexes of --index.
std::span<std::string_view const> sqlite_indexes() noexcept;

/// The reason why SQLite could not go on. It ends an export and is caught by the function that
/// started it.
struct sqlite_failure {
  std::string reason;
};

/// Writes without a journal: if the export fails, the whole file is discarded.
class database {
 public:
  /// The file at `path` must exist and be empty.
  explicit database(std::string const& path);
  database(database const&) = delete;
  database& operator=(database const&) = delete;
  ~database();

  void run(std::string const& statement);
  /// `asked` is called repeatedly while a statement runs; returning true ends the statement.
  void interrupt_when(bool (*asked)() noexcept);
  /// Then the file is complete.
  void commit() { run("COMMIT"); }

  sqlite3* handle() const noexcept { return handle_; }
  [[noreturn]] void fail() const;

 private:
  sqlite3* handle_ = nullptr;
};

/// Adds rows to a table before its unfilled columns are added. A bound value stays bound for the
/// rows that follow.
class insertion {
 public:
  /// With `numbered`, the row number (SQL's rowid) is given before all other values.
  insertion(database& into, sqlite_table const& table, bool numbered = false);

  /// Places count from 1, in the order of sqlite_table::columns.
  void bind(int place, std::int64_t value) { check(sqlite3_bind_int64(made_.get(), place, value)); }
  void bind(int place, double value) { check(sqlite3_bind_double(made_.get(), place, value)); }
  void bind(int place, std::nullptr_t) { check(sqlite3_bind_null(made_.get(), place)); }
  /// The text must live until the row is added. A zero byte becomes U+FFFD, because SQL functions
  /// take it as the end.
  void bind(int place, std::string_view text);
  void bind(int place, std::integral auto value) { bind(place, static_cast<std::int64_t>(value)); }
  template <class Value>
  void bind(int place, std::optional<Value> const& value) {
    if (value)
      bind(place, *value);
    else
      bind(place, nullptr);
  }

  void add();

  /// Adds a row with these values.
  template <class... Values>
  void row(Values const&... values) {
    int place = 0;
    (bind(++place, values), ...);
    add();
  }

  std::uint64_t rows() const noexcept { return rows_; }

 private:
  struct finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  void check(int status) const {
    if (status != SQLITE_OK) into_->fail();
  }

  database* into_;
  std::unique_ptr<sqlite3_stmt, finalize> made_;
  std::uint64_t rows_ = 0;
};

/// Returns no value for 0, which means "not known".
template <class Number>
std::optional<std::int64_t> unless_zero(Number number) noexcept {
  return number == Number{} ? std::nullopt : std::optional(static_cast<std::int64_t>(number));
}

}  // namespace gpuprof::host
