// SPDX-License-Identifier: Apache-2.0
// Turns captures into advice: reads one after the other, and combines what they have in common.
#pragma once

#include "analyze/asked_step.hpp"
#include "analyze/run_reading.hpp"
#include "filter_options.hpp"
#include "host/report/advice_report.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

/// Data of a capture that was already read.
struct known_capture {
  std::vector<capture::block_notes> const& notes;
  roofline_reading const& counters;  // for all work on all GPUs, with peaks
};

/// A walk of another thread over the same capture, with a reader of its own.
struct other_walk {
  kernel_block_queue& kernels;
  std::function<known_capture()> known;  // waits for its end
};

struct advice_inputs {
  std::vector<std::string> captures;
  filter_options filters;
  asked_step step;  // one step is a phase; no filters go with it
  advice::advice_options rules;
  timeline_listener const* timeline = nullptr;
  bool whole_run = false;           // also what lies outside of the steps, and their warm-up
  other_walk* elsewhere = nullptr;  // only for a single capture; null: everything is read here
};

struct advice_failure {
  std::string message;
  bool wrong_options = false;
};

/// Holds either the report or the failure.
struct advice_outcome {
  std::optional<report::advice_report> made;
  advice_failure failure;
};
advice_outcome read_advice(advice_inputs const& inputs);

}  // namespace gpuprof::host::command
