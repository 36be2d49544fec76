// SPDX-License-Identifier: Apache-2.0
// A sweep over sizes in four formats: text, CSV, JSON, SVG.
#pragma once

#include "host/analysis/sweep/sweep_points.hpp"
#include "host/report/roofline_chart.hpp"
#include "text/table.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::report {

struct sweep_facts {
  std::string over;     // name of the axis: "size"
  std::string subject;  // "range gemm", "all kernels"
  std::string calls;    // unit of a call: "ranges", "launches"
  std::string program, device;
  std::vector<std::string> notes;  // notes on how to read the numbers
  roofline_roofs roofs;            // of that device; empty if not known
};

struct sweep {
  std::vector<sweep_point> points;  // sorted by size
  sweep_findings found;
  sweep_facts facts;
};

/// Returns the findings as sentences, one per line.
std::vector<std::string> findings_in_words(sweep const& of);
/// Formats the judged value: "762 TFLOP/s", "3.31 TB/s".
std::string figure_text(double value, sweep_figure figure);

/// For readers: columns that are empty for all sizes are left out.
text::table sweep_table(sweep const& of);
/// For programs: always the same columns, rates in FLOP/s and B/s, shares from 0 to 1.
text::table sweep_csv_table(sweep const& of);
/// Writes one object with facts, findings, roofs, and a member of "points" for each size.
void write_sweep_json(sweep const& of, text::text_sink const& out);
/// Writes a self-contained picture of rates over size, with roofs as lines.
void write_sweep_svg(sweep const& of, text::text_sink const& out);

}  // namespace gpuprof::host::report
