// SPDX-License-Identifier: Apache-2.0
// Completes the facts of a run: kernels with their figures and counters, and the names of data that
// was summed by number (transfers, gaps, calls, sequences, communication).
#pragma once

#include "host/advice/facts.hpp"
#include "host/analysis/declared_launches.hpp"
#include "host/analysis/timeline/timeline_pass.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {

/// Fills copies, gaps, calls, sequences and communication.
void take_texts(trace_contents& trace, timeline_pass const& pass, advice::run_facts& facts);

/// Combines what is known of each kernel: its time, its rates, its counters. Sorted by time, the
/// longest first; launches of one signature are combined.
std::vector<advice::kernel_facts> read_kernels(trace_contents& trace, timeline_pass const& pass,
                                               roofline_reading const& counters,
                                               declared_launches const& declared);

/// Returns "forward", with its domain if it has one; empty if there is no range.
std::string text_of_range(trace_contents& trace, std::optional<range_key> const& range);

/// True for names of ranges in which a program loads its next data: "DataLoader.__next__",
/// "load_batch".
bool is_name_of_loading(std::string_view name) noexcept;

}  // namespace gpuprof::host::command
