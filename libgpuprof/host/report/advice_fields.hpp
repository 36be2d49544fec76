// SPDX-License-Identifier: Apache-2.0
// All that programs are told of a finding: CSV and JSON have these.
#pragma once

#include "host/report/advice_report.hpp"
#include "host/report/fields.hpp"

#include <vector>

namespace gpuprof::host::report {

struct listed_finding {
  advice::joined_finding const* of;
  bool is_below;  // what it can gain is less than was asked for
};

/// In the order of the columns. With several ranks JSON tells what each can gain.
std::vector<field<listed_finding>> finding_fields(bool has_several_ranks);

}  // namespace gpuprof::host::report
