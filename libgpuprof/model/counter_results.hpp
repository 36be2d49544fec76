// SPDX-License-Identifier: Apache-2.0
// What the counters gave: readings around launches, windows of samples in time.
#pragma once

#include "model/records.hpp"

#include <vector>

namespace gpuprof {

/// Of one launch, or of several that ran the passes.
struct counter_reading {
  std::vector<read_launch_record> launches;  // one for each pass
  std::vector<reading_value_record> values;  // of the last of these
};

/// Windows of samples, and what was sampled in them, metric by metric.
struct sampling_results {
  std::vector<sampling_window_record> windows;
  std::vector<sample_record> samples;
};

}  // namespace gpuprof
