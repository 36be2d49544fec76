// SPDX-License-Identifier: Apache-2.0
// Finds the launches of a capture that reading counters has slowed down.
#pragma once

#include "host/analysis/slowed_launches.hpp"
#include "host/reading/trace_contents.hpp"

namespace gpuprof {

/// Goes over the kernels only where there are any.
slowed_launches read_slowed_launches(trace_contents& trace);
/// Adds the columns that it looks at, where any launch may have been slowed.
void add_columns_of(slowed_launches const& slowed, capture::column_set<kernel_record>& to);

}  // namespace gpuprof
