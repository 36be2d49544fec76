// SPDX-License-Identifier: Apache-2.0
// What must be known to trust a roofline: the lines above it, and the facts behind them, gathered
// from the capture and what was read of it.
#pragma once

#include "guest/options/settings.hpp"
#include "host/analysis/roofline.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"
#include "roofline_of_capture.hpp"
#include "text/overview.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

// The lines above a roofline: what is known, what it cost, what is missing and how to get it.

/// Five lines, "captured: ...", "lost: ...", "known: ...", "cost: ...", "missing: ...", and
/// warnings where the file is damaged. `peaks`: when those were measured that are used, by device.
/// All that is behind them is in roofline_notes().
std::vector<std::string> roofline_summary(trace_contents const& trace, text::overview const& about,
                                          roofline_reading const& read, roofline const& roofs,
                                          std::map<std::uint32_t, std::string> const& peaks);

/// The counters that were asked for when the capture was made, and at what price: from the
/// variables of the profiled program.
guest::metrics_options captured_metrics(trace_contents const& trace);

/// `device`: the one whose roofs are meant; nothing: the first that has any. Refers to `read`.
report::roofline_facts facts_of(trace_contents& trace, roofline_reading const& read,
                                roofline const& roofs, std::optional<std::uint32_t> device,
                                moments const& peaks);

}  // namespace gpuprof::host::command
