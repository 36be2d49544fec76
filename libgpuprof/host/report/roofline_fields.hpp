// SPDX-License-Identifier: Apache-2.0
// All values of a roofline line for programs, used in CSV, JSON and the page.
#pragma once

#include "host/report/fields.hpp"
#include "host/report/roofline_report.hpp"

#include <vector>

namespace gpuprof::host::report {

/// The fields are in the order of the columns. Rates are in FLOP/s and B/s, shares from 0 to 1,
/// times in ns.
std::vector<field<roofline_row>> roofline_fields(roofline_lines of);

}  // namespace gpuprof::host::report
