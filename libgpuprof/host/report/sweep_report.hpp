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
  std::string over;     // "size"
  std::string subject;  // "range gemm", "all kernels"
  std::string calls;    // "ranges", "launches": what a call is
  std::string program, device;
  std::vector<std::string> notes;  // what a reader must know about the numbers
  roofline_roofs roofs;            // of that device; empty: none are known
};

struct sweep {
  std::vector<sweep_point> points;  // in order
  sweep_findings found;
  sweep_facts facts;
};

/// The findings as sentences, a line each.
std::vector<std::string> findings_in_words(sweep const& of);
/// "762 TFLOP/s", "3.31 TB/s": of the figure that is judged.
std::string figure_text(double value, sweep_figure figure);

/// For reading: columns in which no size has anything are left out.
text::table sweep_table(sweep const& of);
/// For programs: always the same columns, rates in FLOP/s and B/s, shares from 0 to 1.
text::table sweep_csv_table(sweep const& of);
/// One object: facts, findings, roofs, and a member of "points" for each size.
void write_sweep_json(sweep const& of, text::text_sink const& out);
/// Rates against size, with roofs as lines; a picture that needs nothing else.
void write_sweep_svg(sweep const& of, text::text_sink const& out);

}  // namespace gpuprof::host::report
