// SPDX-License-Identifier: Apache-2.0
// Plans the columns of a stream (of a table in captures, or of a table made for the stream) and
// fills them from one capture.
#pragma once

#include <gpuprof/tables.h>

#include "base/result.hpp"
#include "capture/whole_columns.hpp"
#include "host/reading/exported_columns.hpp"
#include "host/reading/exported_names.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

// Columns in memory, and the structs of the Arrow C data interface that pass them on.

/// The distinct texts of a column: Arrow's dictionary.
class arrow_texts {
 public:
  /// Returns its index. @throws std::length_error if all texts together reach 2 GiB
  std::int32_t place_of(std::string_view text);
  std::vector<std::int32_t> const& offsets() const noexcept { return offsets_; }
  std::string const& bytes() const noexcept { return bytes_; }

 private:
  std::unordered_map<std::string, std::int32_t> places_;
  std::vector<std::int32_t> offsets_{0};
  std::string bytes_;
};

struct arrow_field {
  std::string name;
  std::string unit;     // empty: none
  std::string meaning;  // empty: not given
  char const* format = "";
  bool is_text = false;  // `format` is the format of the indices
};

struct arrow_column {
  void const* values = nullptr;
  std::shared_ptr<arrow_texts const> texts;
};

struct arrow_batch {
  std::size_t rows = 0;
  std::shared_ptr<void const> memory;  // owns all values
  std::vector<arrow_column> columns;
};

/// `out` owns what it points to; its release function frees that.
void hand_out(std::vector<arrow_field> const& fields, ArrowSchema& out);
void hand_out(arrow_batch const& batch, ArrowArray& out);

struct table_plan {
  /// `source` is null if the values are not in the table: columns of "tables" and "missing", the
  /// end of ranges, and the rank.
  std::vector<exported_column> columns;
  std::vector<arrow_field> fields;                // one per column
  capture::table_layout const* layout = nullptr;  // null: a table made for the stream
  std::string table;
};

inline constexpr std::string_view list_of_tables = "tables";
inline constexpr std::string_view missing_lines = "missing";
inline constexpr std::string_view whole_ranges = "range";  // range_begin with the end of each range
inline constexpr std::string_view rank_column = "rank";
inline constexpr std::string_view duration_column = "duration";      // only for whole ranges
inline constexpr std::string_view still_open_column = "still_open";  // only for whole ranges

/// `wanted` lists the columns in order. If it is empty, returns all columns, plus the rank if
/// `has_rank`. An error says what is unknown and what exists.
result<table_plan> plan_of(std::string table, std::span<std::string_view const> wanted,
                           bool has_rank);

class column_memory {
 public:
  /// Arrow recommends this alignment for each column.
  static constexpr std::size_t alignment = 64;

  /// @throws std::bad_alloc
  explicit column_memory(std::size_t bytes);
  ~column_memory();
  column_memory(column_memory const&) = delete;
  column_memory& operator=(column_memory const&) = delete;

  std::byte* begin() const noexcept { return begin_; }

 private:
  std::size_t bytes_;
  std::byte* begin_;
};

class captured_columns {
 public:
  /// `plan` must outlive this object. `place` is the index among the opened captures; it is used as
  /// the rank if no launcher set one.
  static result<std::unique_ptr<captured_columns>> open(std::string const& path,
                                                        table_plan const& plan, std::size_t place);

  /// Returns nothing after the last rows. A batch has at most `max_rows` rows, except if a single
  /// block has more.
  std::optional<arrow_batch> next(std::size_t max_rows);

 private:
  captured_columns(capture::whole_columns blocks, capture::reader file, table_plan const& plan,
                   std::size_t place);

  arrow_batch read(std::span<std::size_t const> blocks, std::size_t rows);
  arrow_batch make();
  /// Fills a column that is not in the table; `ranges` are the range ids of the rows, if there are
  /// any.
  void fill(exported_column const& column, std::span<std::uint64_t const> ranges, std::size_t rows,
            std::byte* to);
  std::shared_ptr<arrow_texts const> name_places(exported_column const& column, std::uint32_t* ids,
                                                 std::size_t rows);
  std::string_view text_of(exported_column const& column, std::uint32_t id);

  table_plan const* plan_;
  capture::whole_columns blocks_;
  trace_contents trace_;
  std::optional<exported_names> names_;  // only if a text is needed, as it demangles all kernels
  std::int64_t rank_;
  std::vector<std::size_t> left_;  // blocks to read
  std::size_t next_ = 0;           // index into `left_`
  bool is_made_ = false;
};

}  // namespace gpuprof::host
