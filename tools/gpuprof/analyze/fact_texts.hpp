// SPDX-License-Identifier: Apache-2.0
// Adds names to what was summed by number: transfers, gaps, calls, sequences, communication.
#pragma once

#include "host/advice/facts.hpp"
#include "host/analysis/timeline/timeline_pass.hpp"
#include "host/reading/trace_contents.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::host::command {

/// Fills copies, gaps, calls, sequences and communication.
void take_texts(trace_contents& trace, timeline_pass const& pass, advice::run_facts& facts);

/// Returns "forward", with its domain if it has one; empty if there is no range.
std::string text_of_range(trace_contents& trace, std::optional<range_key> const& range);

/// True for names of ranges in which a program loads its next data: "DataLoader.__next__",
/// "load_batch".
bool is_name_of_loading(std::string_view name) noexcept;

}  // namespace gpuprof::host::command
