// SPDX-License-Identifier: Apache-2.0
// All that is behind the numbers of a roofline, for the JSON; roofline_summary has the short form.
#pragma once

#include "roofline_reading.hpp"

#include <string>
#include <vector>

namespace gpuprof {

/// What is missing or lost first.
std::vector<std::string> roofline_notes(trace_contents const& trace, roofline_reading const& read,
                                        roofline const& roofs);

}  // namespace gpuprof
