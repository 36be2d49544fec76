// SPDX-License-Identifier: Apache-2.0
// Makes the roofline lines of a capture, for reports and for exports.
#pragma once

#include "host/analysis/roofline.hpp"
#include "host/export/export_job.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/report/roofline_report.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::command {

using report::roofline_lines;

/// Measurement times of the peaks, by device.
using moments = std::map<std::uint32_t, std::string>;

/// Stores the peaks of the capture in `read`, or those stored on this machine since then.
moments find_peaks(trace_contents& trace, roofline_reading& read);

/// Reads in a walk of its own, with a progress line.
void read_alone(trace_contents& trace, roofline_reading& read, bool with_ranges);
/// Ends a reading after its walk; a terminal shows that this takes a while.
void finish_and_say(trace_contents& trace, roofline_reading& read);

/// Only of kernels, signatures, graphs and ranges.
std::vector<roofline_row> lines_of(roofline_lines by, roofline const& roofs, trace_contents& trace,
                                   std::vector<range_work> const& ranges);

/// Returns the lines of signatures, kernels, ranges and graphs. Empty if nothing was counted.
std::vector<exported_line> roofline_of(trace_contents& trace);

}  // namespace gpuprof::host::command
