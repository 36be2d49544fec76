// SPDX-License-Identifier: Apache-2.0
// Reads both sides of a comparison, at the same time: the durations of kernels, ranges and steps,
// and what a capture says about the whole run.
#pragma once

#include "base/result.hpp"
#include "host/compare/run_digest.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::command {

// What a capture says about the whole run, its time ledger and findings, and its counters about
// kernels, for a comparison.

/// Of a range whose instances have a number each ("ProfilerStep#12") only the step stands for them.
void drop_numbered(std::map<std::string, compare::range_line>& ranges, std::string const& step);

void take_facts(compare::run_digest& digest, trace_contents& trace);
/// After the kernels: clocks, rates and shares of the roof.
void take_roofline(compare::run_digest& digest, trace_contents& trace,
                   roofline_reading const& read);
/// Last: only reading shows damage inside the file.
void take_losses(compare::run_digest& digest, trace_contents& trace);

/// The time ledger and the findings of a run, for a comparison.
///
/// Buckets are of a GPU, the mean of all used; "idle" is the sum of those that begin with it.
void take_advice(compare::run_digest& digest, trace_contents& trace,
                 roofline_reading const& counters, std::string const& step);

struct two_sides {
  std::vector<compare::run_digest> base, fresh;
};

/// Names as named_captures takes them. `step`: the range that repeats; empty: found.
result<two_sides> read_sides(std::vector<std::string> const& base,
                             std::vector<std::string> const& fresh, std::string const& step);

}  // namespace gpuprof::host::command
