// SPDX-License-Identifier: Apache-2.0
// All fields of a finding for programs, in CSV and JSON.
#pragma once

#include "host/report/advice_report.hpp"
#include "host/report/fields.hpp"

#include <vector>

namespace gpuprof::host::report {

struct listed_finding {
  advice::joined_finding const* of;
  bool is_below;  // its potential gain is below the requested minimum
};

/// In the order of the columns. With several ranks JSON has the potential gain of each.
std::vector<field<listed_finding>> finding_fields(bool has_several_ranks);

}  // namespace gpuprof::host::report
