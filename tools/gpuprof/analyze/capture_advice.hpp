// SPDX-License-Identifier: Apache-2.0
// Reads one capture, runs the rules on it, and makes the report of a single one.
#pragma once

#include "analyze/read_advice.hpp"
#include "host/report/advice_report.hpp"
#include "ranks/rank_digest.hpp"
#include "text/overview.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

/// The data and the advice of one capture, which may be that of one rank.
struct capture_advice {
  advice::run_facts facts;  // devices of this rank only
  advice::advice_of_rank advice;
  std::optional<advice::roof_distance> roof;
  report::ledger time;
  std::optional<report::analyzed_part> part;
  std::string one_step;  // which one, if only one step is looked at
  text::overview overview;
  std::vector<std::pair<std::string, std::uint64_t>> costs;
  std::string step;          // name of the steps that were replayed
  replay::step_paths paths;  // of these steps; none if they are stretches of the run
  std::vector<std::string> remarks;
  rank_digest digest;                 // set if there are several captures
  std::vector<time_stretch> phase;    // that was looked at; empty: the run
  std::vector<time_stretch> counted;  // in the ledger; empty: the run. Set as `digest` is
  advice_failure failure;

  /// What the shares of findings refer to: "run", "steps", "step" or "steady part".
  std::string whole() const;
};

/// `rank` is empty if there is only one capture.
capture_advice read_capture(std::string const& path, std::string const& rank,
                            advice_inputs const& inputs);

report::advice_report report_of_one(capture_advice made, advice_inputs const& inputs);

}  // namespace gpuprof::host::command
