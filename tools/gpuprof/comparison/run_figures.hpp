// SPDX-License-Identifier: Apache-2.0
// What a capture says about the whole run, its time ledger and findings, and its counters about
// kernels, for a comparison.
#pragma once

#include "host/compare/run_digest.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"

#include <map>
#include <string>

namespace gpuprof::host::command {

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

}  // namespace gpuprof::host::command
