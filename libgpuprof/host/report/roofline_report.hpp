// SPDX-License-Identifier: Apache-2.0
// The roofline of a capture in four formats: text, CSV, JSON, SVG.
#pragma once

#include "host/analysis/roofline.hpp"
#include "host/analysis/sampling/sample_attribution.hpp"
#include "text/table.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::report {

enum class roofline_lines { kernels, signatures, ranges, graphs };

/// For reading: columns in which no line has anything are left out. The lines must outlive it.
text::table roofline_table(std::span<roofline_row const> lines, roofline_lines of);

/// What tells a line from others of the same kernel and extents; empty when nothing has to.
std::string arguments_text(roofline_row const& line);

/// Marks in that table figures whose standard error is above 5 % of them.
inline constexpr char unsure_mark = '~';
bool has_unsure_figures(std::span<roofline_row const> lines);

/// Marks FLOP that were told from instructions and machine code, as if all lanes computed.
inline constexpr char const* limit_mark = "<=";
bool has_limits(std::span<roofline_row const> lines);

/// For programs: always the same columns, rates in FLOP/s and B/s, shares from 0 to 1, empty where
/// nothing was measured. The lines must outlive it.
text::table roofline_csv_table(std::span<roofline_row const> lines, roofline_lines of);

struct roofline_facts {
  std::vector<std::string> summary;       // above a table: five lines
  std::vector<std::string> overview;      // "captured: ...", "lost: ...", "cost: ..."
  std::vector<std::string> notes;         // what a reader must know about the numbers
  std::string device;                     // whose roofs are drawn: "NVIDIA H200"
  measured_roofs const* roofs = nullptr;  // nullptr: none are known
  double gpu_ns = 0;
  double exact_share = 0;  // of it: FLOP were counted in full, or there are none
  double known_share = 0;  // of it: FLOP are known, or those of the tensor cores
  /// What was read and what was not, and why: "launches_read", "skipped_busy".
  std::vector<std::pair<std::string, std::uint64_t>> readings;
  std::uint64_t samples = 0;
  discarded_samples discarded;
  sampling_facts sampling;
  std::optional<double> sampling_slowdown;  // time inside its windows to time outside
};

/// One object: facts, roofs, and a line each under "kernels", "signatures", "ranges" or "graphs".
void write_roofline_json(std::span<roofline_row const> lines, roofline_lines of,
                         roofline_facts const& facts, text::text_sink const& out);

/// Whether a chart of them shows anything: a point needs FLOP and DRAM bytes.
bool has_points(std::span<roofline_row const> lines);

/// A chart of FLOP per DRAM byte against FLOP per second; a picture that needs nothing else.
void write_roofline_svg(std::span<roofline_row const> lines, roofline_lines of,
                        roofline_facts const& facts, text::text_sink const& out);

}  // namespace gpuprof::host::report
