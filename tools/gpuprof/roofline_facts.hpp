// SPDX-License-Identifier: Apache-2.0
// The facts that one must know to trust a roofline: the lines above it, and their details, from the
// capture and from what was read of it.
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

/// Returns five lines, "captured: ...", "lost: ...", "known: ...", "cost: ...", "missing: ...", and
/// warnings if the file is damaged. `peaks` has the measurement times of the peaks used, by device.
/// roofline_notes() has the details.
std::vector<std::string> roofline_summary(trace_contents const& trace, text::overview const& about,
                                          roofline_reading const& read, roofline const& roofs,
                                          std::map<std::uint32_t, std::string> const& peaks);

/// Returns the counter options of the recording, including the permitted overhead, from the
/// environment of the profiled program.
guest::metrics_options captured_metrics(trace_contents const& trace);

/// `device` is the one whose roofs are shown; empty: the first that has any. The result refers to
/// `read`.
report::roofline_facts facts_of(trace_contents& trace, roofline_reading const& read,
                                roofline const& roofs, std::optional<std::uint32_t> device,
                                moments const& peaks);

}  // namespace gpuprof::host::command
