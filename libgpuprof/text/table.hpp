// SPDX-License-Identifier: Apache-2.0
// A table with typed columns: the form of every report before it becomes text, CSV or JSON.
#pragma once

#include "text/page.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpuprof::text {

/// The meaning of a column's numbers; decides unit in the header, digits and alignment.
enum class column_kind {
  text,
  integer,     // counts, ids
  share,       // per cent, one decimal
  decimal,     // a plain number, one decimal
  number,      // of any size: the fewest digits that read back as the same number
  amount,      // like number, but never with an exponent: for reading
  time,        // whole ns, shown in the user's unit of time
  mean_time,   // ns with one decimal, shown in the user's unit of time
  rough_time,  // ns with one decimal; in longer units with three
  size,        // bytes, shown in MB (10^6), three decimals
  throughput,  // bytes per second, shown in MB/s, three decimals
};

enum class time_unit { nanoseconds, microseconds, milliseconds, seconds };

/// For a column that distinguishes the rows: it stays on the narrowest page, and its text is
/// shortened.
inline constexpr int never_left_out = -1;

struct column {
  std::string name;  // without unit: "Total Time"
  column_kind kind = column_kind::text;
  /// Where a page is too narrow, columns with 1 are left out first, then those with 2, ..., then
  /// those with 0 from the right. The first stays; so does the last with 0, its text is shortened.
  int leave_out = 0;
};

/// Empty, text, whole number, number. Text is borrowed: it must outlive the call that gets the
/// cell.
using cell = std::variant<std::monostate, std::string_view, std::int64_t, double>;
using row = std::vector<cell>;

/// Rows are produced on request, possibly several times, so that a trace of millions of rows is
/// never in memory as text.
struct table {
  std::string name;   // "cuda_gpu_kern_sum"
  std::string title;  // "CUDA GPU Kernel Summary"
  std::vector<column> columns;
  /// A table that is not there has no rows.
  std::function<void(std::function<void(row const&)> const&)> each_row = [](auto const&) {};
};

/// Returns "Total Time (ns)".
std::string header_of(column const& column, time_unit unit);

/// Appends the cell to `out` as all formats print it, without thousands separators. An empty cell
/// appends nothing.
void append_cell(std::string& out, cell const& value, column_kind kind, time_unit unit);
/// For programs, which must read back the same number; whole numbers stay whole. No value gives an
/// empty cell.
cell number_cell(std::optional<double> value);

bool is_number(column_kind kind) noexcept;

/// Receives the text of a format in pieces of any size.
using text_sink = std::function<void(std::string_view)>;

/// Writes in the style of nsys: headers above dashes, numbers right-aligned with thousands
/// separators. On a narrow page, texts are shortened so that they stay distinct, and columns are
/// left out; a line names these.
void write_columns(table const& table, time_unit unit, text_sink const& out, page const& on = {});
/// Returns the first rows of a table. When they have been produced, `left_out` is the number of
/// further rows.
table first_rows(table const& of, std::size_t count, std::shared_ptr<std::size_t> left_out);
/// Writes RFC 4180 with a header line; lines end with
/// , as in nsys.
void write_csv(table const& table, time_unit unit, text_sink const& out);
/// Like write_csv, but with tabs between fields and no quotes: tabs and line ends in a text become
/// blanks.
void write_tsv(table const& table, time_unit unit, text_sink const& out);
/// Writes an array with one object per row and the keys of the CSV header; empty cells are null.
void write_json(table const& table, time_unit unit, text_sink const& out);

}  // namespace gpuprof::text
