// SPDX-License-Identifier: Apache-2.0
// The roofline of a capture in four formats: text, CSV, JSON, SVG.
#pragma once

#include "host/analysis/roofline.hpp"
#include "host/analysis/sampling/sample_attribution.hpp"
#include "host/report/fields.hpp"
#include "text/table.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::report {

enum class roofline_lines {
  kernels,
  kinds,  // of work
  signatures,
  ranges,
  steps,
  graphs,
  lines,  // of Python, as gpuprof lines has them
  functions,
  files,
  modules
};

/// Returns "kernels", "signatures", "ranges", ....
std::string_view plural_of(roofline_lines of) noexcept;
/// True for lines, functions, files and modules.
bool are_in_source(roofline_lines of) noexcept;

/// All values of a line for programs, used in CSV, JSON and the page.
///
/// The fields are in the order of the columns. Rates are in FLOP/s and B/s, shares from 0 to 1,
/// times in ns.
std::vector<field<roofline_row>> roofline_fields(roofline_lines of);

/// For readers: columns that are empty in all lines are left out. The lines must outlive the table.
text::table roofline_table(std::span<roofline_row const> lines, roofline_lines of);

/// The cell of a column of that table, by its name.
std::string roofline_text(roofline_row const& line, std::string_view column);

/// Returns what distinguishes a line from others of the same kernel and extents; empty if that is
/// not needed.
std::string arguments_text(roofline_row const& line);

/// In this table, marks values whose standard error is above 5 %.
inline constexpr char unsure_mark = '~';
bool has_unsure_figures(std::span<roofline_row const> lines);

/// Marks FLOP that were derived from instructions and machine code, as if all lanes computed.
inline constexpr char const* limit_mark = "<=";
bool has_limits(std::span<roofline_row const> lines);

/// For programs: always the same columns. Rates are in FLOP/s and B/s, shares from 0 to 1; a cell
/// is empty if nothing was measured. The lines must outlive the table.
text::table roofline_csv_table(std::span<roofline_row const> lines, roofline_lines of);

struct roofline_facts {
  std::vector<std::string> summary;       // five lines above a table
  std::vector<std::string> overview;      // "captured: ...", "lost: ...", "cost: ..."
  std::vector<std::string> notes;         // notes on how to read the numbers
  std::string device;                     // the GPU whose roofs are drawn: "NVIDIA H200"
  measured_roofs const* roofs = nullptr;  // nullptr if no roofs are known
  double gpu_ns = 0;
  double exact_share = 0;  // share of gpu_ns in which FLOP were counted in full or do not exist
  double known_share = 0;  // share of gpu_ns in which FLOP are known, or those of the tensor cores
  /// Numbers of launches that were read or skipped, with the reason: "launches_read",
  /// "skipped_busy".
  std::vector<std::pair<std::string, std::uint64_t>> readings;
  /// What profiling cost: {"cost.start_ns", 9800000}.
  std::vector<std::pair<std::string, std::uint64_t>> costs;
  std::uint64_t samples = 0;
  discarded_samples discarded;
  sampling_facts sampling;
  std::optional<double> sampling_slowdown;  // time inside its windows to time outside
};

/// Writes one object with facts, roofs, and the lines under "kernels", "signatures", "ranges", ....
void write_roofline_json(std::span<roofline_row const> lines, roofline_lines of,
                         roofline_facts const& facts, text::text_sink const& out);

/// True if a chart of these lines would show a point, which needs FLOP and DRAM bytes.
bool has_points(std::span<roofline_row const> lines);

/// Writes a self-contained chart of FLOP per second over FLOP per DRAM byte.
void write_roofline_svg(std::span<roofline_row const> lines, roofline_lines of,
                        roofline_facts const& facts, text::text_sink const& out);

}  // namespace gpuprof::host::report
