// SPDX-License-Identifier: Apache-2.0
// All figures of a line of the roofline, for programs: CSV, JSON and the page have these.
#pragma once

#include "host/report/fields.hpp"
#include "host/report/roofline_report.hpp"

#include <vector>

namespace gpuprof::host::report {

/// In the order of the columns. Rates are in FLOP/s and B/s, shares from 0 to 1, times in ns.
std::vector<field<roofline_row>> roofline_fields(roofline_lines of);

}  // namespace gpuprof::host::report
