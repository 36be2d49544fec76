// SPDX-License-Identifier: Apache-2.0
// A SQLite file with the tables of nsys, and ours: written once, in one transaction; and rows that
// go into it.
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

/// The tables of the SQLite export: those of nsys, with its columns, and ours.
struct sqlite_table {
  std::string_view name;
  std::string_view columns;  // that get values, in the order in which rows give them
  /// Columns that nsys has and a capture does not know. Added when the rows are in: they then take
  /// no room, and a row of them no time.
  std::string_view unfilled = {};
};

/// The version of nsys' schema that its tables follow, and of ours.
inline constexpr int nsys_schema[] = {3, 7, 2};
inline constexpr int own_schema = 1;

namespace tables {

// nsys' names, for its own records.
extern sqlite_table const string_ids, kernel, memcpy, memset, graph_trace, runtime, synchronization,
    memory_usage, cpu_page_faults, gpu_page_faults, nvtx_events;
// nsys' names, for what explains them.
extern sqlite_table const target_gpu, target_cuda_device, target_context, target_session_start,
    target_system, analysis_details, meta_export, meta_capture, processes, thread_names;
// Ours.
extern sqlite_table const facts, counters, losses, windows, clocks, metrics, readings,
    reading_values, samples, sampling_windows, peaks, kernel_code, declared_work, roofline,
    roofline_flops;

}  // namespace tables

std::span<sqlite_table const* const> all_sqlite_tables() noexcept;

/// Statements that make the indexes of --index.
std::span<std::string_view const> sqlite_indexes() noexcept;

/// Why SQLite could not go on. Ends an export; caught where it began.
struct sqlite_failure {
  std::string reason;
};

/// Without a journal: what fails half way is thrown away as a whole.
class database {
 public:
  /// `path` exists and is empty.
  explicit database(std::string const& path);
  database(database const&) = delete;
  database& operator=(database const&) = delete;
  ~database();

  void run(std::string const& statement);
  /// Asked again and again while a statement runs; true ends it.
  void interrupt_when(bool (*asked)() noexcept);
  /// All is in the file.
  void commit() { run("COMMIT"); }

  sqlite3* handle() const noexcept { return handle_; }
  [[noreturn]] void fail() const;

 private:
  sqlite3* handle_ = nullptr;
};

/// Adds rows to a table, before its unfilled columns are there. A value that was bound stays for
/// the rows that follow.
class insertion {
 public:
  /// `numbered`: the number of a row, what SQL calls its rowid, is given with it, before all else.
  insertion(database& into, sqlite_table const& table, bool numbered = false);

  /// Places count from 1, in the order of sqlite_table::columns.
  void bind(int place, std::int64_t value) { check(sqlite3_bind_int64(made_.get(), place, value)); }
  void bind(int place, double value) { check(sqlite3_bind_double(made_.get(), place, value)); }
  void bind(int place, std::nullptr_t) { check(sqlite3_bind_null(made_.get(), place)); }
  /// The text lives until the row is added. A zero byte, which SQL functions take for the end,
  /// becomes U+FFFD.
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

  /// A row of these values.
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

/// Null for the value that stands for "not known".
template <class Number>
std::optional<std::int64_t> unless_zero(Number number) noexcept {
  return number == Number{} ? std::nullopt : std::optional(static_cast<std::int64_t>(number));
}

}  // namespace gpuprof::host
