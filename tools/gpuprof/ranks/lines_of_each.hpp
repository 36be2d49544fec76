// SPDX-License-Identifier: Apache-2.0
// A report that cannot be added up: the lines of each rank one after the other.
#pragma once

#include "ranks/rank_stats.hpp"

#include <vector>

namespace gpuprof {

/// Some reports have columns only where a capture has something for them.
void add_columns(std::vector<report::column>& to, std::vector<report::column> const& more);

/// Name, title and columns are those of `like`. The captures are read again whenever rows are
/// wanted, so that no more than one is in memory.
report::table lines_of_each(report::table const& like, capture_set const& set,
                            chosen_report const& report, rank_stats_inputs const& inputs);

}  // namespace gpuprof
