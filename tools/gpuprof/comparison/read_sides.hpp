// SPDX-License-Identifier: Apache-2.0
// Reads both sides of a comparison in parallel: the durations of kernels, ranges and steps, and
// facts about the whole run.
#pragma once

#include "base/result.hpp"
#include "host/compare/run_digest.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"
#include "lines/source_groups.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

// Reads from a capture for a comparison: the whole run, its time ledger and findings, and the
// counters of kernels.

/// If each instance of a range has a number ("ProfilerStep#12"), only the step represents them.
void drop_numbered(std::map<std::string, compare::range_line>& ranges, std::string const& step);

void take_facts(compare::run_digest& digest, trace_contents& trace);
/// Call it after the kernels; adds clocks, rates and shares of the roof.
void take_roofline(compare::run_digest& digest, trace_contents& trace,
                   roofline_reading const& read);
/// Call it last, because damage inside the file is found only by reading.
void take_losses(compare::run_digest& digest, trace_contents& trace);

/// Adds the time ledger and the findings of a run for a comparison.
///
/// Buckets are per GPU, averaged over all used GPUs; "idle" is the sum of all buckets that begin
/// with it. With `steps_first`, they are about the steps without warm-up, if there are steps.
void take_advice(compare::run_digest& digest, trace_contents& trace,
                 roofline_reading const& counters, std::string const& step, bool steps_first);

struct two_sides {
  std::vector<compare::run_digest> base, fresh;
};

/// Names are those that named_captures accepts. `step` is the range that repeats; empty: it is
/// found. `by`: also reads the GPU time of these places in the source. Time ledgers and findings
/// are about the steps if all runs have steps, else about the whole runs.
result<two_sides> read_sides(std::vector<std::string> const& base,
                             std::vector<std::string> const& fresh, std::string const& step,
                             std::optional<line_options> const& by = {});

}  // namespace gpuprof::host::command
