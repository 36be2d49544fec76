// SPDX-License-Identifier: Apache-2.0
// Runs the rules over a run, keeps what is worth saying, says what holds the program.
#pragma once

#include "host/advice/bottleneck.hpp"
#include "host/advice/rule.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::advice {

struct advice_options {
  std::vector<std::string> only;     // --rule: names of rules; empty: all
  std::vector<std::string> skipped;  // --skip-rule
  double min_gain = 0.01;            // of the window
};

/// A rule whose data is not in the capture.
struct not_looked_at {
  rule const* of;
  data_set missing;
};

struct run_advice {
  bottleneck holds;
  std::vector<finding> findings;   // highest gain first
  std::vector<finding> too_small;  // below min_gain
  std::vector<not_looked_at> missing;
  double best_case_ns = 0;  // the window if all were done
};

run_advice give_advice(run_facts const& facts, advice_options const& options);

/// "--set explain", "--trace cuda-api": what makes a capture hold this.
std::string how_to_record(data_set missing);

}  // namespace gpuprof::host::advice
