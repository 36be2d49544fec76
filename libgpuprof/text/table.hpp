// SPDX-License-Identifier: Apache-2.0
// A table with typed columns: what every report is before it becomes text, CSV or JSON.
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

/// What the numbers of a column are; decides unit in the header, digits and alignment.
enum class column_kind {
  text,
  integer,     // counts, ids
  share,       // per cent, one decimal
  decimal,     // a plain number, one decimal
  number,      // of any size: the fewest digits that read back as the same number
  amount,      // likewise, never with an exponent: for reading
  time,        // whole ns, shown in the unit of time the user chose
  mean_time,   // ns with one decimal, likewise
  size,        // bytes, shown in MB (10^6), three decimals
  throughput,  // bytes per second, shown in MB/s, three decimals
};

enum class time_unit { nanoseconds, microseconds, milliseconds, seconds };

/// What tells the rows apart: such a column stays on the narrowest page, its text is shortened.
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

/// Rows are produced when asked for, possibly several times, so that a trace of millions of rows
/// never stands in memory as text.
struct table {
  std::string name;   // "cuda_gpu_kern_sum"
  std::string title;  // "CUDA GPU Kernel Summary"
  std::vector<column> columns;
  std::function<void(std::function<void(row const&)> const&)> each_row;
};

/// "Total Time (ns)".
std::string header_of(column const& column, time_unit unit);

/// The cell as all formats print it, without thousands separators; empty for an empty cell.
/// Appends to `out`.
void append_cell(std::string& out, cell const& value, column_kind kind, time_unit unit);
/// For programs, which read back the same number: whole ones as such. Nothing: it is not known.
cell number_cell(std::optional<double> value);

bool is_number(column_kind kind) noexcept;

/// Where formats put their text; called with pieces of any size.
using text_sink = std::function<void(std::string_view)>;

/// In the manner of nsys: headers above dashes, numbers to the right with thousands separators.
/// Where the page is too narrow texts are shortened so that they can be told apart, and columns are
/// left out; a line says which.
void write_columns(table const& table, time_unit unit, text_sink const& out, page const& on = {});
/// The first rows of a table; when they have been produced, `left_out` is how many more there are.
table first_rows(table const& of, std::size_t count, std::shared_ptr<std::size_t> left_out);
/// RFC 4180, with a header line; lines end with \n as nsys writes them.
void write_csv(table const& table, time_unit unit, text_sink const& out);
/// The same with tabs between fields and no quotes: tabs and line ends in a text become blanks.
void write_tsv(table const& table, time_unit unit, text_sink const& out);
/// An array of objects, one a row, keys as in the CSV header; empty cells are null.
void write_json(table const& table, time_unit unit, text_sink const& out);

}  // namespace gpuprof::text
