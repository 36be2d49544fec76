// SPDX-License-Identifier: Apache-2.0
// The reports of `gpuprof stats` over several captures. Only one capture is open at a time.
#pragma once

#include "ranks/capture_set.hpp"
#include "stats_reports.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

struct rank_stats_inputs {
  std::vector<chosen_report> reports;
  filter_options filters;
  range_scope scope = range_scope::process;
  std::string step;  // as in stats_inputs
};

struct rank_stats {
  std::vector<finished_report> reports;
  std::vector<std::string> heading;
  std::vector<std::string> remarks;  // captures left out, with the reason
};

/// Adds up reports if possible; others list the lines of each rank one after the other.
struct rank_stats_outcome {
  std::optional<rank_stats> made;
  stats_failure failure;
};
rank_stats_outcome make_rank_stats(capture_set const& set, rank_stats_inputs const& inputs);

}  // namespace gpuprof::host::command
